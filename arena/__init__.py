"""The arena around the referee: command line, tournaments, ledger, reports."""
