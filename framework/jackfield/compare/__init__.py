"""Several runs side by side: bring the runs about (``grid``), read them (``record``), set them in a table and in plots."""
