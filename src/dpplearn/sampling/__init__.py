"""Exact samplers on arrays, and a Markov chain for kernels that no factorization fits.

`spectral` needs eigenpairs and then costs the same for any number of items, `kdpp` fixes the size,
`cholesky` needs only K, `mcmc` only entries of L.
"""
