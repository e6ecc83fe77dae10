"""The fused engine: Numba kernels that perform many training steps in one call.

Reading order: ``engine`` (the Python code and the loop over steps), ``encoder`` and ``dense`` (layers), ``conv`` with
``simd`` (convolutions), ``attention``, ``pooling`` and ``heads``, ``optimizers``. ``model_tables`` and ``conv_tables``
define the arrays that the kernels read and write.
"""
