package launcher

// Version is the value of "v" in a session's first frame.
const Version = 2

// The largest sizes of frames in bytes, without the length field. MostToServer is for frames to the server,
// MostToClient for frames to a launcher or a part.
const (
	MostToServer = 64 << 10
	MostToClient = 4 << 20
)

// Message is a message of a session. It is a pointer to a type of this package. The tag of a field has the field's key
// in a frame. With `omitempty`, a zero value is not sent. With `lists`, each element is sent as the list of its
// fields' values.
type Message interface {
	// Type returns the value of "t".
	Type() string
}

// Hello is the first frame of a session. Without App and Part, it begins a new application. A launcher that reconnects sets App.
type Hello struct {
	Version int    `codec:"v"`
	Speaks  []int  `codec:"speaks"`
	Name    string `codec:"name,omitempty"`    // of the application, at most 64 bytes
	App     int64  `codec:"app,omitempty"`     // reconnect to this application
	Have    int64  `codec:"have,omitempty"`    // number of the last view that the launcher has; 0 if it has none
	Part    *Part  `codec:"part,omitempty"`    // the sender is a part
	Key     []byte `codec:"key,omitempty"`     // X25519 public key, over TCP
	Deflate int    `codec:"deflate,omitempty"` // the newest way of packing that the sender knows (packed.Version); 0 if there is none
}

// Part is a batch job of an application on a cluster, with the names and numbers that users know. In lists it is
// [cluster, job]. In Hello the cluster may be "", because a job does not know the name of its cluster. Then it is the
// cluster of the sidecar.
type Part struct {
	Cluster string `codec:"c"`
	Job     int64  `codec:"job"`
}

// Welcome answers Hello. Times are seconds.
type Welcome struct {
	Version int     `codec:"v"`
	App     int64   `codec:"app"`
	State   string  `codec:"state"` // core/delegated.State as a string
	Now     int64   `codec:"now"`   // Unix seconds of the sidecar's clock
	Pace    float64 `codec:"pace"`  // seconds of that clock per second of real time; 1 except on embedded clusters
	Tag     int64   `codec:"tag"`   // tag of the request in force; -1 if there is none
	Grace   int64   `codec:"grace"`
	Timer   int64   `codec:"timer"`
	Fair    int64   `codec:"fair"`
	Answer  int64   `codec:"answer"`
	Cluster string  `codec:"cluster,omitempty"` // name of the cluster, if the sender of Hello is a part
	Key     []byte  `codec:"key,omitempty"`
	Deflate int     `codec:"deflate,omitempty"` // how later frames of this session are packed, in both directions; 0 if they are not packed
}

// Subscribe names the clusters that a launcher wants to see, and the batch jobs that wait for its parts.
type Subscribe struct {
	Filter Filter `codec:"filter"`
	Most   int64  `codec:"most"`       // the longest walltime that the launcher will request, in seconds; 0 means any
	Jobs   []Part `codec:"jobs,lists"` // [] on embedded clusters
}

// Filter excludes clusters. Zero values exclude no clusters. Memory is in MiB.
type Filter struct {
	MinHosts int               `codec:"min_hosts,omitempty"`
	HostMem  int64             `codec:"host_mem,omitempty"`
	TotalMem int64             `codec:"total_mem,omitempty"`
	Scratch  int64             `codec:"scratch,omitempty"`
	Arch     string            `codec:"arch,omitempty"`
	Attrs    map[string]string `codec:"attrs,omitempty"`
	Clusters []string          `codec:"clusters,omitempty"`
}

// List requests Clusters without a subscription.
type List struct{}

// Clusters answers Subscribe and List.
type Clusters struct {
	All   []Cluster `codec:"all"`
	Links []Link    `codec:"links"`
}

// Cluster is a cluster that a launcher may see. Unknown values are 0 or "".
type Cluster struct {
	C       int               `codec:"c"` // its number in this session's messages
	Name    string            `codec:"name"`
	Hosts   int               `codec:"hosts"`
	Cores   int               `codec:"cores,omitempty"`   // of a host
	Mem     int64             `codec:"mem,omitempty"`     // MiB of a host
	Scratch int64             `codec:"scratch,omitempty"` // MiB of a host
	Arch    string            `codec:"arch,omitempty"`
	Speed   float64           `codec:"speed"`
	Site    string            `codec:"site,omitempty"`
	Attrs   map[string]string `codec:"attrs,omitempty"`
}

// Link is the network link between two clusters.
type Link struct {
	A         int   `codec:"a"`
	B         int   `codec:"b"`
	Latency   int64 `codec:"latency"`             // microseconds
	Bandwidth int64 `codec:"bandwidth,omitempty"` // Mbit/s; 0 if unknown
}

// Kinds of a ClusterChange, as bits.
const (
	KindInfo       = 1
	KindLinks      = 2
	KindOccupation = 4
)

// Change is a view, sent as its difference from an earlier view.
type Change struct {
	View int64           `codec:"view"`
	Base int64           `codec:"base"` // number of the earlier view; 0 if the change has the whole view
	Now  int64           `codec:"now"`  // Unix seconds
	Est  int64           `codec:"est"`  // when the request in force would start; 0 if it cannot start, or there is none
	All  []ClusterChange `codec:"all"`
}

// ClusterChange replaces the known occupation of one cluster on [From, To).
type ClusterChange struct {
	C     int      `codec:"c"`
	Kind  int      `codec:"kind"`
	Info  *Cluster `codec:"info,omitempty"`
	Links []Link   `codec:"links,omitempty"`
	From  int64    `codec:"from"`
	To    int64    `codec:"to"`    // 0 if it has no end
	Steps []int64  `codec:"steps"` // t0,n0,t1,n1,…: n_i hosts are busy from t_i until t_{i+1}, the last until To
}

// Ack acknowledges a view. The request in force stays.
type Ack struct {
	View int64 `codec:"view"`
}

// Hosts is a number of hosts on a cluster. In a frame it is the list [c, n].
type Hosts struct {
	C int `codec:"c"`
	N int `codec:"n"`
}

// Names are the names of hosts of a cluster. In a frame they are the list [c, [names]].
type Names struct {
	C     int      `codec:"c"`
	Hosts []string `codec:"hosts"`
}

// Request says what an application wants from now on. View is the view that it is based on.
type Request struct {
	View     int64   `codec:"view"`
	Tag      int64   `codec:"tag"`
	Hosts    []Hosts `codec:"hosts,lists"`
	Walltime int64   `codec:"walltime"` // seconds
}

// Start says that the request with this tag starts.
type Start struct {
	Tag   int64   `codec:"tag"`
	At    int64   `codec:"at"` // the second of the decision
	By    int64   `codec:"by"` // the latest end
	Hosts []Names `codec:"hosts,lists"`
}

// Lost asks the launcher to submit a batch job again.
type Lost struct {
	C   int    `codec:"c"`
	Job int64  `codec:"job"`
	Why string `codec:"why"`
}

// Parts names batch jobs. They are additional jobs, or replace earlier jobs on the same clusters.
type Parts struct {
	Jobs []Part `codec:"jobs,lists"`
}

// Ready says that a part's job runs, and waits for the other parts.
type Ready struct {
	Job int64 `codec:"job"`
}

// Go lets the parts continue.
type Go struct {
	At    int64    `codec:"at"`
	Hosts []Names  `codec:"hosts,lists"`
	Names []string `codec:"names,omitempty"` // names of the clusters, in the order of Hosts, because a part does not know their numbers
}

// Abort ends a part before it ran any code of its user.
type Abort struct {
	Why   string `codec:"why"`
	Again bool   `codec:"again"` // the application still waits
}

// Done says that an application or a part has ended. Before Start, it withdraws the application. If the sidecar sends Done to a launcher,
// all parts have ended, the code is the first exit status that is not 0, and no message follows.
type Done struct {
	Code int `codec:"code"`
}

// Okay answers Subscribe, Parts, Ready and Done.
type Okay struct {
	To int64 `codec:"to"` // the "s" of the message that it answers
}

// The codes of Refuse.
const (
	CodeHosts    = "hosts"
	CodeCluster  = "cluster"
	CodeWalltime = "walltime"
	CodeJob      = "job"
	CodeView     = "view"
	CodeState    = "state"
	CodeUnknown  = "unknown"
	CodeFull     = "full"
	CodeAuth     = "auth"
	CodeVersion  = "version"
	CodeFrame    = "frame"
	CodeSize     = "size"
	CodeType     = "type"
	CodeFlood    = "flood"
)

// Refuse refuses a message. After the codes auth, version, unknown, full, frame, size and flood the connection ends.
type Refuse struct {
	To     int64  `codec:"to"` // the "s" of the refused message; 0 if there is none
	Code   string `codec:"code"`
	Text   string `codec:"text"`            // a sentence for the user
	Field  string `codec:"field,omitempty"` // the wrong field
	Tag    int64  `codec:"tag,omitempty"`   // with code state: tag of the request that was granted
	Speaks []int  `codec:"speaks,omitempty"`
}

// Reasons of End.
const (
	WhyOverrun   = "overrun"
	WhySilent    = "silent"
	WhyViolation = "violation"
	WhyLost      = "lost"
	WhyCancelled = "cancelled"
	WhyNewer     = "newer"
)

// End says that an application is being ended, or that another connection has replaced this one.
type End struct {
	Why string `codec:"why"`
	In  int64  `codec:"in"` // seconds until its jobs end
}

// Ping requests a Pong. It is sent after 15 s without a frame from the peer. After 45 s without a frame, the connection counts as dead.
type Ping struct{}

// Pong answers Ping.
type Pong struct{}

// ToServer reports whether launchers or parts send a message.
func ToServer(m Message) bool {
	switch m.(type) {
	case *Hello, *Subscribe, *List, *Ack, *Request, *Parts, *Ready, *Done, *Ping, *Pong:
		return true
	}
	return false
}

func (*Hello) Type() string     { return "hello" }
func (*Welcome) Type() string   { return "welcome" }
func (*Subscribe) Type() string { return "subscribe" }
func (*List) Type() string      { return "list" }
func (*Clusters) Type() string  { return "clusters" }
func (*Change) Type() string    { return "change" }
func (*Ack) Type() string       { return "ack" }
func (*Request) Type() string   { return "request" }
func (*Start) Type() string     { return "start" }
func (*Lost) Type() string      { return "lost" }
func (*Parts) Type() string     { return "parts" }
func (*Ready) Type() string     { return "ready" }
func (*Go) Type() string        { return "go" }
func (*Abort) Type() string     { return "abort" }
func (*Done) Type() string      { return "done" }
func (*Okay) Type() string      { return "okay" }
func (*Refuse) Type() string    { return "refuse" }
func (*End) Type() string       { return "end" }
func (*Ping) Type() string      { return "ping" }
func (*Pong) Type() string      { return "pong" }
