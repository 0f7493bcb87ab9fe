// Package bitmapio writes 32-bit Roaring bitmaps in their portable form, as
// index files hold them: with run containers where these are smaller, which gives
// the bytes that Paimon writes.
//
// Role: the bytes of one set of row positions. It may import the bitmap library
// only. It must never read foreign bytes.
package bitmapio
