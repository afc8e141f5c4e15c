# What a contributor types. Each target is one line of the scripts, which also work without make.
.PHONY: help build test test-real lint bench-compare clean

help: ## print this help
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

build: ## build bin/accordion
	CGO_ENABLED=1 go build -o bin/ ./cmd/accordion

test: ## everything that needs no root and no batch system, in minutes
	./scripts/test

test-real: ## everything, also on real Slurm and OAR (root, Debian 12)
	./scripts/test --real

lint: ## comments in plain words, golangci-lint as .golangci.yml says, and functions that no program reaches
	go test -run TestCommentsAreInPlainWords .
	CGO_ENABLED=1 go tool -modfile=scripts/lint.mod golangci-lint run
	dead=$$(go tool -modfile=scripts/lint.mod deadcode $$(go list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./...)) && { test -z "$$dead" || { echo "$$dead"; false; }; }

bench-compare: ## benchmarks of BASE=commit and of this tree; PKG=./core/sched BENCH=Plan
	@./scripts/bench-compare "$(BASE)" $(PKG)

clean: ## remove what builds leave: bin, dist, test binaries
	rm -rf bin dist
	find . -name '*.test' -type f -delete
