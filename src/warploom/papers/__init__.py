"""The papers, a folder each, and what all of them share: experiments, published numbers, stored runs, the scorecard."""
