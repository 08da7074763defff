"""The loops in Cython and C: many texts (``_batch.pyx``), what a text is read by (``*.pxd``), vector code (``*.h``)."""
