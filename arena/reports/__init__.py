"""What people read: tables, pages, plots and files."""
