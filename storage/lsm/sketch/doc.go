// Package sketch unites the serialised sets that aggregate functions of Paimon
// keep in VARBINARY columns: Roaring bitmaps of 32 and 64 bits (RoaringBitmap
// 1.2 for Java), theta and HLL sketches (Apache DataSketches 4.2 for Java).
//
// Role: bytes in, bytes out, the same bytes as the Java libraries give. It may
// import storage/errs only. The input is hostile: every length is checked
// before memory is taken, and a damaged sketch is errs.Corrupt.
package sketch
