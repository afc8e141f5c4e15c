package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAChallengeAndAProofArriveAsTheyWereSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		challenge := Challenge{Nonce: rapid.SliceOfN(rapid.Byte(), NonceSize, NonceSize).Draw(t, "nonce")}
		proof := Proof{Credential: rapid.StringN(1, 100, 400).Draw(t, "credential"), Why: rapid.StringN(0, 100, 400).Draw(t, "why")}
		var b bytes.Buffer
		if err := errors.Join(WriteChallenge(&b, challenge), WriteProof(&b, proof)); err != nil {
			t.Fatal(err)
		}
		r := iotest.OneByteReader(&b)
		gotChallenge, err := ReadChallenge(r)
		if err != nil {
			t.Fatal(err)
		}
		gotProof, err := ReadProof(r)
		if err != nil {
			t.Fatal(err)
		}
		challenge.Version, proof.Version = Version, Version
		if d := cmp.Diff(challenge, gotChallenge) + cmp.Diff(proof, gotProof); d != "" {
			t.Fatal(d)
		}
	})
}

func TestTheBytesOfAChallengeAndAProofDoNotChange(t *testing.T) {
	var b bytes.Buffer
	if err := errors.Join(WriteChallenge(&b, Challenge{Nonce: bytes.Repeat([]byte{7}, NonceSize)}), WriteProof(&b, Proof{Credential: "MUNGE:x:"})); err != nil {
		t.Fatal(err)
	}
	want := "0000002c" + "82" + "a56e6f6e6365" + "c420" + strings.Repeat("07", NonceSize) + "a176" + "01" +
		"00000018" + "82" + "aa63726564656e7469616c" + "a84d554e47453a783a" + "a176" + "01"
	if got := hex.EncodeToString(b.Bytes()); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func TestBadProofsHaveTypedErrors(t *testing.T) {
	challenge := func(in string) error { _, err := ReadChallenge(bytes.NewReader(frame(in))); return err }
	proof := func(in string) error { _, err := ReadProof(bytes.NewReader(frame(in))); return err }
	var bad *MalformedError
	var version *VersionError
	var long *TooLongError
	for name, c := range map[string]struct {
		err  error
		want any
	}{
		"a nonce that is too short":         {challenge("\x82\xa1v\x01\xa5nonce\xc4\x01x"), &bad},
		"no nonce":                          {challenge("\x81\xa1v\x01"), &bad},
		"a challenge of another version":    {challenge("\x81\xa1v\x02"), &version},
		"a challenge that is a request":     {challenge("\x82\xa1v\x01\xa3job\x07"), &bad},
		"a challenge that is too long":      {challenge(strings.Repeat("x", MaxProof+1)), &long},
		"a proof without anything":          {proof("\x81\xa1v\x01"), &bad},
		"a proof that is a request":         {proof("\x82\xa1v\x01\xa3job\x07"), &bad},
		"a proof that is too long":          {proof(strings.Repeat("x", MaxProof+1)), &long},
		"a credential that is too long":     {WriteProof(io.Discard, Proof{Credential: strings.Repeat("x", MaxProof)}), &long},
		"a proof whose credential is bytes": {proof("\x82\xa1v\x01\xaacredential\x07"), &bad},
	} {
		if !errors.As(c.err, c.want) {
			t.Errorf("%s: got %v", name, c.err)
		}
	}
	if err := proof(strings.Repeat("x", MaxProof+1)); !strings.Contains(err.Error(), "at most 4096") {
		t.Errorf("the bound is not named: %v", err)
	}
}

func TestReadFrameDoesNotParseTheFrame(t *testing.T) {
	want := frame("anything at all")
	got, err := ReadFrame(bytes.NewReader(append(want, "rest"...)))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("got %q, %v", got, err)
	}
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{"nothing": {nil, io.EOF}, "half": {want[:9], ErrTruncated}, "a length alone": {want[:4], ErrTruncated}} {
		if _, err := ReadFrame(bytes.NewReader(c.in)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// FuzzReadProof checks that reading returns an error, or a message that is the same after it is written and read again.
func FuzzReadProof(f *testing.F) {
	f.Add(frame("\x82\xa1v\x01\xa5nonce\xc4\x20" + strings.Repeat("n", NonceSize)))
	f.Add(frame("\x82\xa1v\x01\xaacredential\xa8MUNGE:x:"))
	f.Add(frame("\x82\xa1v\x01\xa3why\xa4busy"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if c, err := ReadChallenge(bytes.NewReader(in)); err == nil {
			var b bytes.Buffer
			if err := WriteChallenge(&b, c); err != nil {
				t.Fatalf("a challenge that was read cannot be written: %v", err)
			}
			if again, err := ReadChallenge(&b); err != nil || cmp.Diff(again, c) != "" {
				t.Fatalf("read again: %+v, %v; first %+v", again, err, c)
			}
		}
		if p, err := ReadProof(bytes.NewReader(in)); err == nil {
			var b bytes.Buffer
			if err := WriteProof(&b, p); err != nil {
				t.Fatalf("a proof that was read cannot be written: %v", err)
			}
			if again, err := ReadProof(&b); err != nil || again != p {
				t.Fatalf("read again: %+v, %v; first %+v", again, err, p)
			}
		}
	})
}
