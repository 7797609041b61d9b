"""Many runs from one plan: stated in a few lines, shared by processes and machines, stored so that nothing is made twice."""
