"""Every file format the library reads and writes."""
