"""What the kernel is asked: control groups, system call filters, processes and their time."""
