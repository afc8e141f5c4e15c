package readers

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits are the limits for the queries of each user, and of all users together. A zero value means the default.
type Limits struct {
	AtOnce    int           // number of simultaneous answers to one user, not counting followers
	Followers int           // number of simultaneous followers of one user; a follower is a query with Follow set
	All       int           // number of simultaneous answers and followers of all users
	PerMinute int           // number of queries of one user in a minute; a quarter of them may come without pauses
	Bytes     int           // number of bytes that are sent to one user without pauses
	Rate      int           // number of bytes per second that are sent to one user after the first Bytes
	Document  time.Duration // time limit for sending a document
	Entries   time.Duration // time limit for sending entries
	Follow    time.Duration // time after which a follower has to send its query again
	Piece     time.Duration // time limit for sending each piece of an answer
}

func (l Limits) orDefaults() Limits {
	set := func(of *int, to int) {
		if *of <= 0 {
			*of = to
		}
	}
	last := func(of *time.Duration, to time.Duration) {
		if *of <= 0 {
			*of = to
		}
	}
	set(&l.AtOnce, 4)
	set(&l.Followers, 2)
	set(&l.All, 1024)
	set(&l.PerMinute, 240)
	set(&l.Bytes, 64<<20)
	set(&l.Rate, 4<<20)
	last(&l.Document, 30*time.Second)
	last(&l.Entries, 10*time.Minute)
	last(&l.Follow, time.Hour)
	last(&l.Piece, 10*time.Second)
	return l
}

// allowances has the remaining allowance of each user.
type allowances struct {
	limits Limits
	now    func() time.Time

	mu    sync.Mutex
	open  int
	users map[uint32]*allowance
	swept time.Time
}

// allowance has one user's open answers, and how many queries and bytes the user may still have now.
type allowance struct {
	atOnce, followers int
	questions, bytes  *rate.Limiter
	used              time.Time
	refused           int       // number of refusals since the last one that was logged
	logged            time.Time // when a refusal was last logged
}

func newAllowances(l Limits, now func() time.Time) *allowances {
	return &allowances{limits: l, now: now, users: map[uint32]*allowance{}, swept: now()}
}

// idle is the time after which the allowance of a user without queries is full again, so that it can be deleted.
const idle = 2 * time.Minute

func (a *allowances) of(uid uint32, now time.Time) *allowance {
	if now.Sub(a.swept) > idle {
		for uid, u := range a.users {
			if u.atOnce+u.followers == 0 && now.Sub(u.used) > idle {
				delete(a.users, uid)
			}
		}
		a.swept = now
	}
	u := a.users[uid]
	if u == nil {
		u = &allowance{questions: rate.NewLimiter(rate.Limit(a.limits.PerMinute)/60, max(1, a.limits.PerMinute/4)), bytes: rate.NewLimiter(rate.Limit(a.limits.Rate), a.limits.Bytes)}
		a.users[uid] = u
	}
	u.used = now
	return u
}

// refusal is the reason why a query is not answered now.
type refusal struct {
	why   string
	again int64 // number of seconds after which the user may send the query again
}

// enter counts a query in the user's allowance, or returns why the query is not answered now.
func (a *allowances) enter(uid uint32, follow bool) *refusal {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	u := a.of(uid, now)
	missing := 1 - u.questions.TokensAt(now)
	switch {
	case missing > 0:
		wait := int64(math.Ceil(missing / float64(u.questions.Limit())))
		return &refusal{fmt.Sprintf("user %d asks more often than %d times a minute, or %d times at once, as one user may", uid, a.limits.PerMinute, u.questions.Burst()), max(1, wait)}
	case !follow && u.atOnce >= a.limits.AtOnce:
		return &refusal{fmt.Sprintf("user %d is being answered %d times at once, as often as one user may be", uid, u.atOnce), 1}
	case follow && u.followers >= a.limits.Followers:
		return &refusal{fmt.Sprintf("user %d follows the journal %d times at once, as often as one user may", uid, u.followers), 60}
	case a.open >= a.limits.All:
		return &refusal{fmt.Sprintf("%d users are being answered, as many as may be at once", a.open), 5}
	}
	u.questions.AllowN(now, 1)
	a.open++
	if follow {
		u.followers++
	} else {
		u.atOnce++
	}
	return nil
}

func (a *allowances) leave(uid uint32, follow bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	u := a.users[uid]
	if follow {
		u.followers--
	} else {
		u.atOnce--
	}
	u.used = a.now()
}

// spend subtracts bytes from a user's allowance, and returns how long to wait before they are sent.
func (a *allowances) spend(uid uint32, bytes int) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	return a.users[uid].bytes.ReserveN(now, min(bytes, a.limits.Bytes)).DelayFrom(now)
}

// logPause is the shortest time between two refusals of the same user that are logged.
const logPause = time.Minute

// refusalsToLog counts a refusal of a user. If the refusal should be logged, it returns the number of refusals since the last one that
// was logged. Otherwise it returns 0.
func (a *allowances) refusalsToLog(uid uint32) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	u := a.of(uid, now)
	u.refused++
	if now.Sub(u.logged) < logPause {
		return 0
	}
	n := u.refused
	u.refused, u.logged = 0, now
	return n
}
