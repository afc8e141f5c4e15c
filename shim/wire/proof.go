package wire

import "io"

// WriteChallenge writes one challenge, and sets its Version. Its errors are those of WriteRequest.
func WriteChallenge(w io.Writer, c Challenge) error {
	c.Version = Version
	return writeUpTo(w, MaxProof, &c)
}

// ReadChallenge reads one challenge, which has either a complete nonce or a reason for its absence. Its errors are those of ReadRequest.
func ReadChallenge(r io.Reader) (Challenge, error) {
	var c Challenge
	if err := readUpTo(r, MaxProof, strict, &c); err != nil {
		return Challenge{}, err
	}
	if c.Why == "" && len(c.Nonce) != NonceSize {
		return Challenge{}, malformed("a nonce of %d bytes, not %d", len(c.Nonce), NonceSize)
	}
	return c, nil
}

// WriteProof writes one proof, and sets its Version. Its errors are those of WriteRequest.
func WriteProof(w io.Writer, p Proof) error {
	p.Version = Version
	return writeUpTo(w, MaxProof, &p)
}

// ReadProof reads one proof, which has either a credential or a reason for its absence. The caller has to check the credential. Its errors
// are those of ReadRequest.
func ReadProof(r io.Reader) (Proof, error) {
	var p Proof
	if err := readUpTo(r, MaxProof, strict, &p); err != nil {
		return Proof{}, err
	}
	if p.Why == "" && p.Credential == "" {
		return Proof{}, malformed("neither a credential nor a reason")
	}
	return p, nil
}
