"""What all rooms stand on: errors and progress, what is kept on disk, records that compiled code reads, the library of papers."""
