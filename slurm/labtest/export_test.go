package labtest

// Obtainable skips the test, or fails it, where no Slurm can be had.
var Obtainable = obtainable
