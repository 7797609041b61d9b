"""What tests of several folders use: hand-made code and kernels, slow and obviously right interpreters, damage, a browser."""
