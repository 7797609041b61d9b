"""Recognition of handwritten digits by a convolutional network."""
