package sidecar

import (
	"accordion/core"
)

// expiry is how long a reservation outlives the second it is for, in seconds: with the sidecar dead the cluster is an
// ordinary one again within that time (DESIGN.md, The adapter).
const expiry core.Time = 120
