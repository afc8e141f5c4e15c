package swf

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// pow10 has the powers by which the digits of a fraction are divided.
var pow10 = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// digits is the maximum number of characters of a number in scan, including a point. A number of this length is
// at most MaxValue, and exact as a float64.
const digits = 15

// scan parses one line of 18 whole numbers, whose average CPU time may have a fraction. This is nearly every
// line of every log, so scan is fast. `text` must contain the end of the line. scan returns the length of the
// line with its end, or 0 for any other line, which parseLine parses.
func scan(text []byte, v *values, cpu *float64) (length int) {
	i := 0
	for f := range v {
		c := text[i]
		for c == ' ' || c == '\t' {
			i++
			c = text[i]
		}
		negative := c == '-'
		if negative {
			i++
			c = text[i]
		}
		first := i
		var n int64
		for c-'0' <= 9 {
			n = 10*n + int64(c-'0')
			i++
			c = text[i]
		}
		fraction := 0
		if c == '.' && f == int(FieldCPU)-1 && i > first {
			point := i
			for i++; text[i]-'0' <= 9; i++ {
				n = 10*n + int64(text[i]-'0')
			}
			c = text[i]
			fraction = i - point - 1
		}
		if c > ' ' || i == first || i-first > digits {
			return 0
		}
		if negative {
			n = -n
		}
		if f == int(FieldCPU)-1 {
			*cpu = float64(n) / pow10[fraction] // both are exact, so that the result is correctly rounded
		}
		v[f] = n
	}
	if !v.narrow() {
		return 0
	}
	for text[i] == ' ' || text[i] == '\t' {
		i++
	}
	switch {
	case text[i] == '\n':
		return i + 1
	case text[i] == '\r':
		return lineEnd(text, i)
	}
	return 0
}

// narrow reports whether the numbers of 32-bit fields fit.
func (v *values) narrow() bool {
	wide := int64(0)
	for _, n := range [...]int64{v[4], v[7], v[10], v[11], v[12], v[13], v[14], v[15]} {
		wide |= n>>31 ^ n>>63 // 0 for −2³¹ to 2³¹−1
		if n == math.MinInt32 {
			return false
		}
	}
	return wide == 0
}

// lineEnd returns the index after the line end at i: \n, \r\n or \r.
func lineEnd(text []byte, i int) int {
	if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// separators are the characters between fields.
const separators = " \t\v\f\x00"

// parseLine parses any line that is not a comment. It calls `report` for each problem, and stops if `report`
// returns an error. `job` is true if the line is a job.
func parseLine(line []byte, v *values, cpu *float64, report func(Field, Kind, string) error) (job bool, err error) {
	*v, *cpu = none, Unknown
	f := Field(0)
	for rest := bytes.Trim(line, separators); len(rest) > 0; rest = bytes.TrimLeft(rest, separators) {
		end := bytes.IndexAny(rest, separators)
		if end < 0 {
			end = len(rest)
		}
		if f++; f <= Fields {
			kind, wrong := number(rest[:end], f, &v[f-1], cpu)
			if wrong && f == FieldNumber && kind != Fraction {
				return false, report(0, NotJob, string(rest[:end]))
			}
			if wrong {
				if err := report(f, kind, string(rest[:end])); err != nil {
					return false, err
				}
			}
		}
		rest = rest[end:]
	}
	switch {
	case f < Fields:
		err = report(0, Missing, strconv.Itoa(int(f)))
	case f > Fields:
		err = report(0, Surplus, strconv.Itoa(int(f)))
	}
	return true, err
}

// number parses one field. If that fails it sets the field to Unknown.
func number(text []byte, f Field, into *int64, cpu *float64) (kind Kind, wrong bool) {
	if !numeric(text) {
		return NotNumber, true
	}
	value, err := strconv.ParseFloat(string(text), 64)
	whole := math.Trunc(value)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return NotNumber, true
	case err != nil || math.Abs(whole) > float64(f.most()):
		return OutOfRange, true
	case f == FieldCPU:
		*cpu = value
		return 0, false
	}
	*into = int64(whole)
	return Fraction, whole != value
}

// numeric reports whether a text has only characters of decimal numbers. It excludes spellings that ParseFloat accepts: Inf, NaN, 0x1p3,
// 1_000.
func numeric(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}
