package eptest

// An Outcome is what happens to a script's request under Slurm, with the plug-in.
type Outcome int

// The outcomes under Slurm. OAR does not read #EP and #MOLD lines: its rules refuse a script that Slurm's plug-in accepts.
const (
	Ordinary Outcome = iota // no request: the job is an ordinary one, without a message
	Warned                  // an ordinary job; its user gets a message that a line is not read
	Refused                 // refused, with the corrected line in the message
	Accepted                // a request
)

// A Directive is a script with a line that is a request or looks like one.
type Directive struct {
	Name, Script string
	Outcome      Outcome
	Line         int    // line number; 0 for an ordinary script
	Word, Text   string // the intended request: "ep" and "1x20s,2x20s"
}

// Directives returns scripts with a known outcome. The first ones are from found/21.
func Directives() []Directive {
	const short = "1x20s,2x20s"
	ep := func(name, line string) Directive {
		return Directive{name, "#!/bin/bash\n" + line + "\nsleep 1\n", Refused, 2, "ep", short}
	}
	mold := func(name, line, text string) Directive {
		return Directive{name, "#!/bin/bash\n" + line + "\nsleep 1\n", Refused, 2, "mold", text}
	}
	as := func(fate Outcome, d Directive) Directive { d.Outcome = fate; return d }
	ordinary := func(name, line string) Directive {
		return Directive{Name: name, Script: "#!/bin/bash\n" + line + "\nsleep 1\n"}
	}
	return []Directive{
		ep("colon", "#EP:1x20s,2x20s"), ep("equals", "#EP=1x20s,2x20s"), ep("indented", "  #EP 1x20s,2x20s"), as(Accepted, ep("right", "#EP 1x20s,2x20s")),
		ep("colon and blank", "#EP: 1x20s,2x20s"), ep("blanks and colon", " # EP : 1x20s,2x20s"), ep("a blank first", "# EP 1x20s,2x20s"), ep("a tab first", "#\tEP 1x20s,2x20s"),
		ep("lower case", "#ep 1x20s,2x20s"), ep("mixed case", "#Ep 1x20s,2x20s"), ep("an indented lower case", "\t# ep: 1x20s,2x20s"), ep("no blank", "#EP1x20s,2x20s"),
		ep("quotes", `#EP="1x20s,2x20s"`), ep("capital X", "# EP 1X20s,2X20s"), ep("blanks within", "# EP 1x20s, 2x20s"), ep("a remark behind", "#EP:1x20s,2x20s # as measured"),
		as(Accepted, ep("a tab between", "#EP\t1x20s,2x20s")),
		mold("mold, colon", "#MOLD:4x2h|8x70m", "4x2h|8x70m"), mold("mold, lower case", "#mold 4x2h|8x70m", "4x2h|8x70m"), mold("mold, indented", " #MOLD 4x2h | 8x70m", "4x2h|8x70m"),
		mold("a clock", "#Mold=4x02:00:00|8x70m", "4x02:00:00|8x70m"), mold("a model", "# MOLD amdahl:p=0.99,t1=10h,nodes=1-256", "amdahl:p=0.99,t1=10h,nodes=1-256"),
		mold("a model with colon", "#MOLD: downey:a=64,sigma=1,t1=10h,nodes=1-128", "downey:a=64,sigma=1,t1=10h,nodes=1-128"),
		{"behind #SBATCH lines and remarks", "#!/bin/bash\n#SBATCH -n1\n\n# what it does\n#SBATCH -t5\n # EP 1x20s,2x20s\nsleep 1\n", Refused, 6, "ep", short},
		{"no command", "#!/bin/bash\n#EP:1x20s,2x20s\n", Refused, 2, "ep", short},
		{"no line end", "#!/bin/bash\n#EP:1x20s,2x20s", Refused, 2, "ep", short},
		// Published reports of #SBATCH lines that Slurm did not read, with a request in their place.
		// https://github.com/ESMCI/cime/issues/2358: a blank before each line.
		{"cime 2358", "#!/usr/bin/env python\n\n# Batch system directives\n #SBATCH --nodes=1\n #EP 1x20s,2x20s\nimport os\n", Refused, 5, "ep", short},
		// https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/3068: set -euo pipefail in the second line.
		{"megatron 3068", "#!/bin/bash\nset -euo pipefail\n\n#SBATCH --nodes=1\n#EP 1x20s,2x20s\nsrun x\n", Warned, 5, "ep", short},
		// https://github.com/buildtesters/buildtest/issues/274: variables before the lines.
		{"buildtest 274", "#!/bin/bash\nsrcdir=$WORK/src\nexe=hello\n#SBATCH -N 1\n#EP 1x20s,2x20s\n./$exe\n", Warned, 5, "ep", short},
		// https://github.com/neu-spiral/Discovery-Cluster/issues/14: a remark behind the option.
		{"discovery 14", "#!/bin/bash\n#EP: 1x20s,2x20s                (a node, then two)\nsleep 1\n", Refused, 2, "ep", short},
		as(Warned, ep("no unit", "# EP 5x500")), as(Warned, ep("no units", "#ep: 5x500, 10x20")),
		{"after the first command", "#!/bin/bash\nmodule load x\n#EP 1x20s,2x20s\nsleep 1\n", Warned, 3, "ep", short},
		{"indented after the first command", "#!/bin/bash\nif true; then\n  #EP 1x20s,2x20s\n  sleep 1\nfi\n", Warned, 3, "ep", short},
		{"after the first command, of two", "#!/bin/bash\nset -e\n\n#MOLD 4x2h|8x70m\n#MOLD 16x40m\n", Warned, 4, "mold", "4x2h|8x70m"},
		{"a model after the first command", "#!/bin/bash\nset -e\n#MOLD amdahl:p=0.99,t1=10h,nodes=1-256\n", Warned, 3, "mold", "amdahl:p=0.99,t1=10h,nodes=1-256"},
		{Name: "a script that the job submits", Script: "#!/bin/bash\nsbatch <<E\n#!/bin/bash\n#EP 1x20s,2x20s\nsleep 1\nE\n"},
		ordinary("taken out", "##EP 1x20s,2x20s"), ordinary("taken out, with a blank", "## EP 1x20s,2x20s"), ordinary("a benchmark", "# EP: class C of the NAS benchmarks, on 16 nodes"),
		ordinary("a variable", "#EP=$HOME/bin/ep.C.16"), ordinary("a size", "# mold 5x10mm, of steel"), ordinary("a grid", "# epoch 5x5s"), ordinary("words", "#EPILOGUE 5x500s"),
		ordinary("a word before", "# the EP 5x500s"), ordinary("a model's name", "# mold: alpha=3"), ordinary("a step of something else", "# mo 5x500s"), ordinary("a bare word", "# EP"),
	}
}
