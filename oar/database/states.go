package database

import (
	"strings"
)

// OAR's states, as far as we act on them.
const (
	StateWaiting = "Waiting"
	StateHold    = "Hold"
)

// OneLine is an error in one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
