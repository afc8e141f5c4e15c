package cluster

import (
	"slices"
	"testing"
)

// Recorded of a program that serves, shortened.
const smaps = `00400000-00403000 r--p 00000000 fe:00 1753378                            /opt/accordion serve
Size:                 12 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me
00403000-014e2000 r-xp 00003000 fe:00 1753378                            /opt/accordion serve
Rss:               13116 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
02588000-0258b000 r--p 02188000 fe:00 1753378                            /opt/accordion serve
Anonymous:            12 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac
0258b000-0258c000 r--p 0218b000 fe:00 1753378                            /opt/accordion serve
Anonymous:             0 kB
Swap:                  4 kB
VmFlags: rd mr mw me ac
0258c000-02b2f000 rw-p 0218c000 fe:00 1753378                            /opt/accordion serve
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac
02b2f000-04b59000 rw-p 00000000 00:00 0                                  [heap]
Anonymous:            72 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac
7f72c54d9000-7f72c5619000 r-xp 00000000 fe:00 326269                     /usr/lib/x86_64-linux-gnu/libc.so.6
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
`

func TestOnlyWhatNobodyWroteOfAProgramIsForgotten(t *testing.T) {
	if got, want := unwritten(smaps, "/opt/accordion serve"), []span{{0x400000, 0x403000}, {0x403000, 0x14e2000}}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := unwritten(smaps[:len(smaps)/2], "/elsewhere"); got != nil {
		t.Errorf("of another file %x", got)
	}
}

// A program goes on as before when its beginning is forgotten, whatever it does meanwhile.
func TestAProgramOutlivesTheForgettingOfItsBeginning(t *testing.T) {
	for range 3 {
		if err := forgetBeginning(); err != nil {
			t.Fatal(err)
		}
	}
}
