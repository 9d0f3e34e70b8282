"""Interfaces to the Linux kernel: control groups, system call filters, processes and their time."""
