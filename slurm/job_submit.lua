-- Accordion's submission plug-in for Slurm (JobSubmitPlugins=lua; this file is in the folder of slurm.conf).
--
-- It parses a user's request for an evolving or moldable job:
--
--     #EP 5x500s,10x1h                          in the script, before its first command
--     #MOLD 4x2h|8x70m|16x40m
--     #EP 2x1h,8x1h|4x40m,16x40m                alternative profiles
--     #MOLD amdahl:p=0.99,t1=10h,nodes=1-256    a speed-up model; nodes=1-256^2 means only powers of two
--     sbatch --comment="ep=5x500s,10x1h"        or "mold=..."
--     sbatch --ep=5x500s,10x1h                  or --mold=..., with the SPANK plug-in
--     sbatch --comment=launch=7                 a part of application 7, from `accordion launch`, which sets its size later
--
-- It rejects a wrong request with one line that names the wrong piece and the right form. It gives every other job with
-- a request its first size and its total time limit, marks it (AdminComment, which only root can set) and holds it for
-- the sidecar. Jobs without such a request pass unchanged, even if this script has a fault.
--
-- accordion.lua, in the folder of this file, names the managed partitions:  return { partitions = { "main" } }
-- It may also have
--     address = "controller:6820"     address of the sidecar for jobs on other hosts, which find it in their environment
--     munge_socket = "/path"          munge's socket if it is not the default; jobs find it in their environment, too
--     socket = "/path"                the sidecar's [session] socket if it is not the default; the state file in the
--                                     same folder shows since when no sidecar runs
--     shortest_step = 10              rejects a profile of several steps if one of them lasts fewer seconds, as
--                                     the sidecar does ([limits] shortest_step)
--     manage = "all"                  the sidecar also decides when all other jobs of these partitions start. Such
--                                     a job gets whole nodes. While other jobs wait, it waits at a gate, which is
--                                     a reservation in the far future. If no sidecar runs, it passes the gate
--
-- The grammar is that of core/moldable in Accordion. Tests compare both parsers with the same texts.

local MAX_NODES, MAX_TOTAL = 1000000, 3650 * 86400
-- slurmctld holds its locks while this script runs, so every text of a user is read only up to a limit. Within these
-- limits no text takes 5 ms.
local MAX_TEXT = 65536 -- bytes of a request, and of a script up to its first command
local MAX_STEPS = 1024 -- steps of a request as written, in all lines and alternatives
local MAX_OPTIONS = 1024 -- options that SPANK plug-ins pass on
local MAX_WANTS = 32 -- requirements of a job on its nodes, each of which the plug-in checks against up to 200 kinds of nodes
local MAX_FIELD, MAX_DEPENDENCY = 8192, 131072 -- bytes of other texts; slurmctld itself rejects texts over 1,024 bytes, and dependencies over 131,072 bytes
local MAX_EACH = 2 ^ 53 -- the largest amount that a job may request on each node; larger numbers are not exact in Lua, and a number of hundreds of digits becomes infinity
local MAX_AGE = 900 -- seconds for which a file written by the sidecar is valid
local MAX_COMMENT = 1000 -- Slurm rejects a comment over 1,024 bytes; AdminComment has no such limit
local MARK, PREFIX = "accordion:", "accordion-"
local GATE, OPEN, LEASE = PREFIX .. "gate", PREFIX .. "open", PREFIX .. "lease" -- reservations of the sidecar
local COMPANION = "accordion-with=" -- begins the mark of an allocation for a managed job
local NO_VAL, NO_VAL16 = slurm.NO_VAL or 4294967294, slurm.NO_VAL16 or 65534
local INFINITE = 4294967295
local TOP = 4294967290 -- a priority above that of every job, because Slurm starts a job immediately only if it is the first in the queue
local DENIED = slurm.ESLURM_ACCESS_DENIED or slurm.ERROR
local UNAVAILABLE = slurm.ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE or 2014 -- "Requested node configuration is not available"

local FORM = "NODESxDURATION, such as 5x500s or 10x1h30m"
local UNBROKEN = "NODESxDURATION: no blanks after the comma or anywhere else, as in 5x500s,10x1h"
local RANGED = "NODESxDURATION: a range of nodes after it is for malleable jobs, which this release does not run"
local RESERVED = "#MALLEABLE and malleable= are reserved for malleable jobs, which this release does not run: write #EP or #MOLD"
local DURATION = "a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS"
local LAUNCH = "launch"
local MAX_DIGITS = 18 -- digits of an application's number
local KINDS = {
	ep = {
		name = "evolution profile", line = "#EP", between = ",", example = "5x500s,10x1h",
		most = MAX_STEPS, bound = "within the 1024 steps that a job may have",
	},
	mold = {
		name = "moldable configurations", line = "#MOLD", between = "|", example = "4x2h|8x70m|16x40m",
		most = 256, bound = "within the 256 configurations that a job may have",
	},
}

-- refuse ends the submission with a one-line message for the user. The type of the error distinguishes a refusal
-- from a fault in this script.
local function refuse(format, ...)
	error({ refusal = string.format(format, ...) }, 0)
end

-- shown quotes a user's text for one line: printable ASCII, shortened if it is long.
local function shown(text)
	local quoted = text:sub(1, 40):gsub("\\", "\\\\"):gsub("[^ -~]", function(c) return string.format("\\x%02x", c:byte()) end)
	return '"' .. quoted:gsub('"', '\\"') .. '"' .. (#text > 40 and "..." or "")
end

-- field returns the first bytes of a job's text, or "" if the job does not have the text. slurmctld rejects a
-- longer text after this plug-in has run.
local function field(text, most) return (text or ""):sub(1, most or MAX_FIELD) end

-- split returns the pieces of a text between separators. It returns at most `most` + 1 pieces. The caller rejects a
-- text with more than `most` pieces.
local function split(text, separator, most)
	local pieces, from = {}, 1
	while true do
		local at = text:find(separator, from, true)
		pieces[#pieces + 1] = { text = text:sub(from, at and at - 1), column = from }
		if not at or #pieces > most then return pieces end
		from = at + 1
	end
end

-- number parses plain digits. It reduces a number above every limit to a smaller number that is exact and still
-- above every limit.
local function number(digits)
	if not digits:match("^%d+$") then return nil end
	return math.min(tonumber(digits), 10 * MAX_TOTAL)
end

local UNITS = { { "d", 86400 }, { "h", 3600 }, { "m", 60 }, { "s", 1 } }
local UNIT_WORDS = { d = 1, day = 1, days = 1, h = 2, hr = 2, hrs = 2, hour = 2, hours = 2, m = 3, min = 3, mins = 3, minute = 3, minutes = 3,
	s = 4, sec = 4, secs = 4, second = 4, seconds = 4 }
local STRICT = "^(%d+)()()(%l)()" -- 1h30m
local LOOSE = "^(%d*)(%.?)(%d*)[ \t\r\n\v\f]*(%l+)[ \t\r\n\v\f]*()" -- also 1.5h, 20 min, 1 h 30 m

-- units parses numbers with units, by one of the two patterns above. Each unit may occur once, and larger units come
-- first.
local function units(text, pattern)
	local sum, at, last = 0, 1, 0
	repeat
		local whole, dot, places, word, after = text:match(pattern, at)
		local rank = UNIT_WORDS[word]
		if not rank or rank <= last then return nil end
		if pattern == LOOSE then
			if #whole > 9 or #places > 6 or (dot ~= "") ~= (places ~= "") or whole .. places == "" then return nil end
			local part, one = number("0" .. places) * UNITS[rank][2], 10 ^ #places
			if part % one ~= 0 then return nil end
			sum = sum + part / one
		end
		sum, at, last = sum + number("0" .. whole) * UNITS[rank][2], after, rank
	until at > #text
	return sum
end

-- clock parses Slurm's MM:SS, HH:MM:SS and D-HH:MM:SS.
local function clock(text)
	local days, rest = text:match("^(%d+)%-(%d%d?:%d%d:%d%d)$")
	local hours, minutes, seconds = (rest or text):match("^(%d+):(%d%d):(%d%d)$")
	if not hours then minutes, seconds = text:match("^(%d+):(%d%d)$") end
	if not minutes or tonumber(seconds) > 59 or hours and tonumber(minutes) > 59 or days and tonumber(hours) > 23 then return nil end
	return number(days or "0") * 86400 + number(hours or "0") * 3600 + number(minutes) * 60 + number(seconds)
end

local function duration(text)
	local sum
	if text:find(":", 1, true) then sum = clock(text) else sum = units(text, STRICT) end
	return sum and sum > 0 and sum <= MAX_TOTAL and sum or nil
end

local function duration_text(seconds)
	local text = ""
	for _, unit in ipairs(UNITS) do
		local n = math.floor(seconds / unit[2])
		if n > 0 then text = text .. n .. unit[1] end
		seconds = seconds - n * unit[2]
	end
	return text
end

-- trim removes white space from both ends. It returns the text, and the number of bytes removed at the beginning. A
-- pattern such as " +$" would take quadratic time, because it tries a match at every blank.
local function trim(text)
	local first = text:find("[^ \t\r\n\v\f]")
	if not first then return "", #text end
	return text:sub(first, text:match("^.*[^ \t\r\n\v\f]()") - 1), first - 1
end

-- tidy_duration rewrites a duration such as 1.5h, 20 min or 1 H 30 M, for messages, in the form that `duration`
-- parses. It returns other texts unchanged.
local function tidy_duration(text)
	local sum = not duration(text) and units(trim(text):lower(), LOOSE)
	return sum and sum > 0 and sum <= MAX_TOTAL and duration_text(sum) or text
end

-- tidy_step rewrites a step such as 8X1h, 2 x 20min or 4*1.5h as NODESxDURATION, for messages. It returns other
-- texts unchanged. core/loose.go does the same. A test compares the two.
local function tidy_step(piece)
	local plain = piece:gsub("\195\151", "*")
	local nodes, length = plain:match("^([^xX*]*)[xX*]+(.*)$")
	if not nodes or #piece > 40 then return piece end
	nodes, length = trim(nodes), tidy_duration(trim(length))
	local n = number(nodes)
	return n and n >= 1 and n <= MAX_NODES and duration(length) and nodes .. "x" .. length or piece
end

-- suggestion returns the end of a message about a piece, which shows how to write the piece correctly.
local function suggestion(piece)
	local tidy = tidy_step(piece)
	return tidy ~= piece and "; write " .. tidy or ""
end

-- decimal parses a number with at most six decimal places.
local function decimal(text, least, most)
	local whole, places = text:match("^(%d+)%.(%d+)$")
	if not whole then whole, places = text:match("^%d+$"), "0" end
	if not whole or #whole > 7 or #places > 6 then return nil end
	local n = tonumber(whole) + tonumber(places) / 10 ^ #places
	return n >= least and n <= most and n or nil
end

local MODELS = {
	amdahl = {
		pattern = "^p=()([^,]*),t1=()([^,]*),nodes=()([^,]*)$",
		form = "amdahl:p=SHARE,t1=DURATION,nodes=FROM-TO, such as amdahl:p=0.99,t1=10h,nodes=1-256",
		{ 0, 1, "a share from 0 to 1 with at most six places, as in p=0.99" },
		speedup = function(n, p) return 1 / (1 - p + p / n) end,
	},
	downey = {
		pattern = "^a=()([^,]*),sigma=()([^,]*),t1=()([^,]*),nodes=()([^,]*)$",
		form = "downey:a=PARALLELISM,sigma=NUMBER,t1=DURATION,nodes=FROM-TO, such as downey:a=64,sigma=1,t1=10h,nodes=1-128^2",
		{ 1, MAX_NODES, "an average parallelism of at least 1 with at most six places, as in a=64" },
		{ 0, 1000, "a number from 0 to 1000 with at most six places, as in sigma=1" },
		speedup = function() return 1 end, -- the plug-in chooses no size, and the time on one node is the longest
	},
}

-- range parses FROM-TO and FROM-TO^2. It returns the smallest size, or nil and a message with the right form.
local function range(text)
	local from, to, powers = text:match("^(%d+)%-(%d+)(.*)$")
	from, to = from and number(from), to and number(to)
	if not from or from < 1 or from > MAX_NODES or to > MAX_NODES or from > to or powers ~= "" and powers ~= "^2" then
		return nil, string.format("a range of sizes from 1 to %d, as in nodes=1-256, or nodes=1-256^2 for powers of two", MAX_NODES)
	end
	if powers == "" then
		if to - from >= KINDS.mold.most then
			return nil, string.format("a range of at most %d sizes: narrow it, or end it with ^2 for powers of two", KINDS.mold.most)
		end
		return from
	end
	local first = 1
	while first < from do first = 2 * first end
	if first > to then return nil, "a range with a power of two in it, as in nodes=1-256^2" end
	return first
end

-- model parses a speed-up model. Until the sidecar chooses a size, the job has the model's smallest size. It
-- returns false for other texts.
local function model(body, steps, where, before)
	local word, rest = body:match("^(%l+):(.*)$")
	if not word then return false end
	local function wrong(offset, part, want)
		refuse("%s, %scolumn %d: %s is not %s", KINDS.mold.name, where(), before + offset, shown(part), want)
	end
	local m = MODELS[word]
	if not m then wrong(0, word, "a model: amdahl or downey") end
	local parts, values = { rest:match(m.pattern) }, {} -- the columns of the values, and the values
	if not parts[1] then wrong(#word + 1, rest, m.form) end
	local function value(i, read, want, ...)
		local n, why = read(parts[2 * i], ...)
		return n or wrong(#word + parts[2 * i - 1], parts[2 * i], want or why)
	end
	for i, field in ipairs(m) do values[i] = value(i, decimal, field[3], field[1], field[2]) end
	local t1, first = value(#m + 1, duration, DURATION), value(#m + 2, range)
	steps[1] = { nodes = first, seconds = math.max(1, math.ceil(t1 / m.speedup(first, unpack(values)))) }
	steps.model = body
	return true
end

-- parse_steps appends the steps of one text to `steps`, and adds their number to `req`. The text begins after
-- `skipped` bytes of its line.
local function parse_steps(kind, body, req, steps, where, skipped)
	local from, to, blank = 1, nil, body:find("[ \t\r\n\v\f]")
	local function wrong(offset, part, want)
		refuse("%s, %scolumn %d: %s is not %s", kind.name, where(), skipped + from + offset, shown(part), want)
	end
	repeat
		to = body:find(kind.between, from, true)
		local piece = body:sub(from, to and to - 1)
		if blank and piece:find("[^ \t\r\n\v\f][ \t\r\n\v\f]+%d+%-%d+$") then wrong(0, piece, RANGED) end
		if blank and piece:find("[ \t\r\n\v\f]") then wrong(0, piece, UNBROKEN .. suggestion(piece)) end
		local x = piece:find("x", 1, true)
		if not x then wrong(0, piece, FORM .. suggestion(piece)) end
		local digits, length = piece:sub(1, x - 1), piece:sub(x + 1)
		local nodes, seconds = number(digits), duration(length)
		if not nodes or nodes < 1 or nodes > MAX_NODES then
			wrong(0, digits, string.format("a number of nodes from 1 to %d, as in 5x500s", MAX_NODES) .. suggestion(piece))
		end
		if not seconds then wrong(x, length, DURATION .. suggestion(piece)) end
		local last = steps[#steps]
		if kind == KINDS.ep and last and last.nodes == nodes then
			last.seconds = last.seconds + seconds
		else
			steps[#steps + 1] = { nodes = nodes, seconds = seconds }
		end
		steps.total = (steps.total or 0) + seconds
		if kind == KINDS.ep and steps.total > MAX_TOTAL then
			wrong(0, piece, "within the longest total, 3650 days")
		end
		req.written = (req.written or 0) + 1
		if req.written > kind.most then wrong(0, piece, kind.bound) end
		if to then from = to + 1 end
	until not to
end

-- parse adds the alternatives in one text to a request. For a profile they are its alternative profiles. For a
-- moldable job they are the single list of its configurations. White space is allowed only at the ends of the text.
-- where() returns the name of the text's line. The text begins after `skipped` bytes of that line.
local function parse(kind, text, req, where, skipped)
	if #text > MAX_TEXT then
		refuse("%s, %s%s is longer than %d bytes: write %s", kind.name, where(), shown(text), MAX_TEXT, kind.example)
	end
	for i, part in ipairs(kind == KINDS.ep and split(text, "|", KINDS.mold.most) or { { text = text, column = 1 } }) do
		if i > 1 or #req.alternatives == 0 then req.alternatives[#req.alternatives + 1] = {} end
		if #req.alternatives > KINDS.mold.most then
			refuse("%s, %scolumn %d: %s is not within the 256 alternatives that a job may have", kind.name, where(),
				skipped + part.column, shown(part.text))
		end
		local body, lead = trim(part.text)
		local before = skipped + lead + part.column
		local steps = req.alternatives[#req.alternatives]
		if kind ~= KINDS.mold or not model(body, steps, where, before) then
			parse_steps(kind, body, req, steps, where, before - 1)
		end
	end
end

-- normalized returns the text that the sidecar parses. It is the same for all spellings of a request.
local function normalized(kind, alternatives)
	local texts = {}
	for k, steps in ipairs(alternatives) do
		local pieces = {}
		for i, s in ipairs(steps) do pieces[i] = s.nodes .. "x" .. duration_text(s.seconds) end
		texts[k] = steps.model or table.concat(pieces, kind.between)
	end
	return table.concat(texts, "|")
end

-- prelude returns the lines of a script up to its first command, with a line end before and after each line. It
-- also returns whether these lines are the whole script. It reads at most MAX_TEXT bytes. The time that the
-- patterns take is proportional to the length of the text.
local function prelude(script)
	local head = "\n" .. script:sub(1, MAX_TEXT)
	local command = head:find("\n[ \t\r\v\f]*[^#%s]")
	if command then return head:sub(1, command), true end
	return head .. "\n", #script <= MAX_TEXT
end

-- line_of returns the number of the line that begins at the given byte of the prelude.
local function line_of(head, at)
	local _, lines = head:sub(1, at):gsub("\n", "")
	return lines
end

-- LIKE holds patterns of lines that resemble a request. Such a line has the word EP or MOLD in any case, with
-- blanks, colons or equal signs around it, followed by a step or a model. The time that the patterns take is
-- proportional to the length of the text.
local LIKE = {
	"\n[ \t]*#[ \t]*([eEmM][pPoO][lL]?[dD]?)[:= \t]*[\"']?()%d+[ \t]*[xX][ \t]*%d+()",
	"\n[ \t]*#[ \t]*([mM][oO][lL][dD])[:= \t]*[\"']?()%a+:[ \t]*[pa][ \t]*=()",
}
local MAX_LOOKS = 2 * MAX_STEPS -- how many matches of a pattern are examined

-- is_step reports whether the digits and the text after them are a step. A product such as 2x4, or a size such as
-- 5x10mm, is not a step.
local function is_step(after) return after:find("^[smhd]%d") or after:find("^[smhd]%f[%W]") or after:find("^[:-]%d%d") end

-- first_like returns the first line of a text that resembles a request and for which counts() returns true. It also
-- returns `sure`. That is false if a unit is missing, because the line may then be an ordinary comment.
local function first_like(text, counts)
	local best, lower = nil, text:lower()
	local mold = lower:find("mold", 1, true)
	if not mold and not lower:find("ep", 1, true) then return nil end -- this is so for most scripts, and a plain search is faster than patterns
	for i, pattern in ipairs(LIKE) do
		local ends = 1
		for _ = 1, (i == 1 or mold) and MAX_LOOKS or 0 do
			local at, last, word, body, after = text:find(pattern, ends)
			if not at or best and at > best.at then break end
			ends = last
			local kind = KINDS[word:lower()]
			if kind and counts(at, kind) then
				local rest = text:sub(after, after + 2)
				local sure = text:sub(after - 1, after - 1) == "=" or is_step(rest)
				if sure or not rest:find("^%a") then
					best = { at = at, body = body, kind = kind, sure = sure }
					break
				end
			end
		end
	end
	return best
end

-- right_form returns a request in its right form, or an example if the request is long.
local function right_form(kind, text)
	local body = text:sub(1, 200):match("^[^\n#\"']*"):gsub("X", "x"):gsub("([,|x])%s+", "%1"):gsub("%s+([,|x])", "%1"):match("^%S*")
	return #body <= 60 and not body:find("[^!-~]") and body or kind.example
end

-- check_lines rejects a line of the prelude that was meant as a request but is not valid. It also reports such
-- lines after the script's first command, where sbatch does not read #SBATCH lines either. Lines after a further #!
-- line are not checked, because they belong to a script that the job itself writes or submits.
local function check_lines(script, head, whole)
	local function exact(text, at, kind) return text:find("^" .. kind.line .. "%s", at + 1) end
	local function line_at(text, at) return shown(text:match("^[^\n]*", at + 1)) end
	local like = first_like(head, function(at, kind) return not exact(head, at, kind) end)
	if like then
		local where, line, right = line_of(head, like.at), like.kind.line, right_form(like.kind, head:sub(like.body, like.body + 200))
		if like.sure then
			refuse("script line %d: %s is no %s line: write \"%s %s\" from the first column, or begin the line with ## to leave it out", where,
				line_at(head, like.at), line, line, right)
		end
		slurm.log_user("accordion: script line %d: %s is not read: a request is written %s %s, from the first column", where, line_at(head, like.at),
			line, like.kind.example)
	end
	if not whole then return end
	local rest = "\n" .. script:sub(#head, MAX_TEXT)
	local inner = rest:find("\n#!", 1, true)
	if inner then rest = rest:sub(1, inner) end
	like = first_like(rest, function() return true end)
	if like then
		slurm.log_user("accordion: script line %d: %s is not read: it is after the script's first command, where #SBATCH lines are not read either",
			line_of(head, #head) - 1 + line_of(rest, like.at), line_at(rest, like.at))
	end
end

-- request_in_script parses the #EP and #MOLD lines before the script's first command, where sbatch reads #SBATCH
-- lines. A further line of the same kind continues the request. A job without such a line is an ordinary one.
local function request_in_script(script)
	local head, whole = prelude(script)
	local at, kind, found = nil, nil, nil
	if head:find("\n#MALLEABLE%s+%d") then refuse(RESERVED) end
	for word, each in pairs(KINDS) do
		local first = head:find(each.line, 1, true) and head:find("\n" .. each.line .. "%s")
		if first and at then refuse("#EP and #MOLD in one script: a job is either evolving or moldable") end
		if first then
			at, kind = first, each
			found = { word = word, alternatives = {}, said = "the script's " .. each.line .. " line" }
		end
	end
	if not whole then
		local long = string.format("what comes before the script's first command is longer than %d bytes", MAX_TEXT)
		if found then refuse("%s: with %s lines it may be so long at most", long, kind.line) end
		slurm.log_user("accordion: %s: if there are #EP or #MOLD lines after these, they are not read", long)
	end
	while at do
		local ends = head:find("\n", at + 1, true)
		parse(kind, head:sub(at + 1 + #kind.line, ends - 1), found, function() return "script line " .. line_of(head, at) .. ", " end, #kind.line)
		at = head:find("\n" .. kind.line .. "%s", ends)
	end
	check_lines(script, head, whole)
	return found
end

-- find_request returns the first word of a text that is a request. If `kind` is given, it considers only requests
-- of that kind.
local function find_request(text, kind)
	local first, said = nil, nil
	text = " " .. text
	for _, word in ipairs(kind and { kind } or { "ep", "mold", LAUNCH }) do
		local at, _, request = text:find("%s(" .. word .. "=%S*)")
		if at and (not first or at < first) then first, said = at, request end
	end
	return said
end

-- launch parses the number of the application to which the job belongs as a part. A part of an application has no
-- other request.
local function launch(text, own)
	if not text:match("^[1-9]%d*$") or #text > MAX_DIGITS then
		refuse("launch=%s is not the number of an application: `accordion launch` gives it, as in launch=7", shown(text):sub(2, -2))
	end
	local other = find_request(own)
	if other then
		refuse("launch=%s together with %s: a part of an application has no request of its own", text, shown(other))
	end
	return { word = LAUNCH, text = text, said = "the comment's launch=" }
end

local function nowhere() return "" end

-- is_request reports whether a text is a valid request.
local function is_request(kind, text) return (pcall(parse, kind, text, { alternatives = {} }, nowhere, 0)) end

-- tidy_request rewrites a request with blanks, such as 2 x 20m, 4x1h, for messages. It returns nil for other texts.
local function tidy_request(kind, text)
	local tidy = text:sub(1, 201):gsub("[^,|]+", function(piece) return tidy_step((trim(piece))) end)
	return #text <= 200 and is_request(kind, tidy) and tidy or nil
end

-- check_comment rejects a comment that was meant as a request but is not valid.
local function check_comment(comment)
	local text = trim(comment:sub(1, MAX_FIELD))
	local bare = KINDS[text]
	if text:find("^malleable=%d") then refuse(RESERVED) end
	if bare then refuse("the comment %s says no %s: write --comment=%s=%s", shown(text), bare.name, text, bare.example) end
	local like = first_like("\n#" .. text, function(at) return at == 1 end)
	if like and like.sure then
		local word = like.kind.line:sub(2):lower()
		refuse("the comment %s is no request: write --comment=\"%s=%s\"", shown(text), word, right_form(like.kind, text:sub(like.body - 2)))
	end
end

-- request_in_comment parses a comment's first word: ep=..., mold=... or launch=.... The rest of the comment is free
-- text of the user. If the comment is too long, it only checks whether the first word is a request, because Slurm
-- will reject the job.
local function request_in_comment(comment)
	local word, text, own = comment:sub(1, MAX_TEXT + 1):match("^%s*(%l+)=(%S*)%s*(.*)$")
	local kind = word and KINDS[word]
	if #comment > MAX_TEXT and (kind or word == LAUNCH) then
		refuse("the comment that begins with %s= is longer than %d bytes", word, MAX_TEXT)
	end
	if word == LAUNCH then return launch(text, own), own end
	if not kind then
		check_comment(comment)
		return nil, comment
	end
	local tidy = own ~= "" and tidy_request(kind, text .. " " .. own)
	if own ~= "" and (text == "" or text:find("[,|]$") or tidy and not is_request(kind, text)) then
		refuse("%s, the comment %s is not %s%s", kind.name, shown(word .. "=" .. text .. " " .. own), UNBROKEN,
			tidy and "; write " .. word .. "=" .. tidy or "")
	end
	local part = find_request(own, LAUNCH)
	if part then refuse("%s= together with %s: a part of an application has no request of its own", word, shown(part)) end
	local found = { word = word, alternatives = {}, said = "the comment's " .. word .. "=" }
	parse(kind, text, found, nowhere, 0)
	return found, own
end

-- request_in_options parses the options --ep and --mold, which the SPANK plug-in passes on.
local function request_in_options(options)
	local found, seen = nil, 0
	for _, option in pairs(options) do
		seen = seen + 1
		if seen > MAX_OPTIONS then
			slurm.log_user("accordion: more than %d options of SPANK plug-ins: the rest of them is not read", MAX_OPTIONS)
			break
		end
		local word, at = option:sub(1, 64):match("^_SLURM_SPANK_OPTION_accordion_(%l+)=()")
		local kind = word and KINDS[word]
		if kind then
			if found then refuse("--ep and --mold in one job: a job is either evolving or moldable") end
			found = { word = word, alternatives = {}, said = "--" .. word }
			parse(kind, option:sub(at, at + MAX_TEXT), found, function() return "--" .. word .. ", " end, 0)
		end
	end
	return found
end

-- check_agreement rejects a job with two requests unless both mean the same.
local function check_agreement(one, other)
	if one and other and one.word == LAUNCH then
		refuse("launch=%s together with %s: a part of an application has no request of its own", one.text, other.said)
	end
	if one and other and
		(one.word ~= other.word or normalized(KINDS[one.word], one.alternatives) ~= normalized(KINDS[other.word], other.alternatives)) then
		refuse("%s says something else than %s: say it once", one.said, other.said)
	end
	return one or other
end

-- request returns the job's request and the free text of its comment. It returns nil for an ordinary job.
local function request(job)
	-- Slurm copies each of these fields whenever Lua reads it, so each is read once.
	local script, options, text = job.script, job.spank_job_env, job.comment
	local in_script = script and request_in_script(script)
	local in_options = options and request_in_options(options)
	local in_comment, own = nil, ""
	if text then in_comment, own = request_in_comment(text) end
	local found = check_agreement(in_comment, check_agreement(in_options, in_script))
	if not found or found.word == LAUNCH then return found, own end
	found.kind = KINDS[found.word]
	found.text = normalized(found.kind, found.alternatives)
	return found, own
end

-- settings returns the contents of accordion.lua. It reads the file for each managed job, so that a change needs no
-- restart.
local here = (debug.getinfo(1, "S").source:match("^@(.*/)")) or "./"
local function settings()
	local chunk = loadfile(here .. "accordion.lua")
	local ok, found = false, nil
	if chunk then ok, found = pcall(chunk) end
	if not ok or type(found) ~= "table" or type(found.partitions) ~= "table" then
		refuse('this cluster names no partition for such jobs yet: its administrator writes %saccordion.lua, such as return { partitions = { "main" } }', here)
	end
	return found
end

-- partitions_of returns the partitions that the job names, or the default partition. It reads main,,main as main,
-- as Slurm does.
local function partitions_of(job, partitions)
	local text, first, several = field(job.partition), nil, false
	for each in text:gmatch("[^,]+") do
		several = several or first ~= nil and each ~= first
		first = first or each
	end
	if several then return text end
	if first then return first end
	for each, p in pairs(partitions) do
		if p.flag_default == 1 or p.flag_default == true then return each end
	end
	return ""
end

-- simplify rewrites an unusual spelling of a partition, such as main,,main, in the form that the sidecar parses.
local function simplify(job, name)
	if job.partition and job.partition ~= "" and job.partition ~= name then job.partition = name end
end

-- managed_partition returns the managed partition of the job, and the partition's record. The record is nil if
-- Slurm does not show the partition to the user.
local function managed_partition(job, partitions, managed)
	local name = partitions_of(job, partitions)
	for _, each in ipairs(managed) do
		if each == name then
			simplify(job, name)
			return name, partitions[name]
		end
	end
	refuse("partition %s has no evolving or moldable jobs: use --partition=%s", shown(name), table.concat(managed, " or "))
end

local function given(value) return value and value ~= NO_VAL and value ~= 0 end

-- asks_other_size reports whether the job asks for another number of nodes. The srun of 20.11 requests at least one
-- node by default, and with -N1 also at most one.
local function asks_other_size(job, nodes)
	local least, most = given(job.min_nodes), given(job.max_nodes)
	return least and job.min_nodes ~= nodes and (most or job.min_nodes ~= 1) or most and job.max_nodes ~= nodes
end

-- each_step iterates over all steps of all alternatives, with their number.
local function each_step(req)
	return coroutine.wrap(function()
		local i = 0
		for _, steps in ipairs(req.alternatives) do
			for _, s in ipairs(steps) do
				i = i + 1
				coroutine.yield(i, s)
			end
		end
	end)
end

local SECOND = "^%-%- second:(%d+)" -- matches the time of writing in the first line of a file that the sidecar wrote
local cached = {} -- for each file: the digest in its first line, and the table that the file returned

-- sidecar_file loads a file that the sidecar wrote into this script's folder, and returns the file's table. It
-- returns nil if there is no file, or if the time in the file's first line is too old. A sidecar writes the file
-- again every 5 minutes. It stops doing so if it moves, writes to another place, or cannot write. If the first line
-- of a file ends with a digest, the file is loaded again only when the digest has changed, because loading a large
-- file takes some 40 ms.
local function sidecar_file(name)
	local file = io.open(here .. name)
	local line = file and file:read("*l")
	if file then file:close() end
	local second = line and tonumber(line:match(SECOND))
	if not second or math.abs(os.time() - second) > MAX_AGE then return nil end
	local last, digest = cached[name], line:match(" sha256:%x+$")
	if last and digest and digest == last.digest then return last.found end
	local chunk = loadfile(here .. name)
	local ok, found = false, nil
	if chunk then ok, found = pcall(chunk) end
	if not ok or type(found) ~= "table" then return nil end
	cached[name] = { digest = digest, found = found }
	return found
end

-- limits returns the limits of associations and QOS that the sidecar wrote (accordion_limits.lua).
local function limits() return sidecar_file("accordion_limits.lua") or { associations = {}, parents = {}, qos = {} } end

-- fewest returns the smallest number of nodes with which one of the alternatives can run.
local function fewest(req)
	local least = math.huge
	for _, steps in ipairs(req.alternatives) do
		local peak = 0
		for _, s in ipairs(steps) do
			if req.word == "ep" then peak = math.max(peak, s.nodes) else least = math.min(least, s.nodes) end
		end
		if req.word == "ep" then least = math.min(least, peak) end
	end
	return least
end

-- check_limits rejects a request if every alternative needs more nodes than the limits of the job's association or
-- QOS can ever allow.
local function check_limits(job, req)
	local fewest = fewest(req)
	local function held(limit)
		if limit and fewest > limit.nodes then
			refuse("%s=%s needs %d nodes, and you may have %d: %s", req.word, shown(req.text), fewest, limit.nodes, limit.why)
		end
	end
	local known = limits()
	local qos = known.qos and known.qos[field(job.qos):lower()] -- Slurm keeps both names in lower case
	held(qos)
	if qos and qos.outranks then return end
	local account = field(job.account):lower()
	if account == "" then account = job.default_account or "" end
	if not known.associations then return end
	held(known.associations[account .. "/" .. tostring(job.user_id or "")])
	local seen = {}
	while account and not seen[account] do
		seen[account] = true
		held(known.associations[account])
		account = known.parents and known.parents[account]
	end
end

-- sidecar_alive reports whether a sidecar serves the cluster. A sidecar that serves holds the lease.
local function sidecar_alive()
	local lease = (slurm.reservations or {})[LEASE]
	return lease ~= nil and lease.end_time > os.time()
end

local SOCKET = "/run/accordion/accordion.sock"

-- last_seen returns the last second at which a sidecar wrote one of its files, or 0 if there are no files.
local function last_seen(site)
	local last = 0
	local state = (type(site.socket) == "string" and site.socket or SOCKET) .. ".state"
	for path, pattern in pairs({ [state] = '"at":(%d+)', [here .. "accordion_limits.lua"] = SECOND, [here .. "accordion_nodes.lua"] = SECOND }) do
		local file = io.open(path)
		local line = file and file:read("*l")
		if file then file:close() end
		last = math.max(last, tonumber(line and line:match(pattern) or 0))
	end
	return last
end

-- tell_away prints a message for the user that no sidecar runs, and since when. The job is accepted anyway, and the
-- next sidecar starts it.
local function tell_away(site)
	if not slurm.reservations or sidecar_alive() then return end
	local last = last_seen(site)
	if last > 0 then
		slurm.log_user("accordion: the sidecar is away since %s: the job waits until it is back", os.date("%Y-%m-%d %H:%M:%S", last))
	else
		slurm.log_user("accordion: no sidecar is running: the job waits until one is")
	end
end

-- nodes_of returns the nodes of a managed partition from accordion_nodes.lua, with one entry for each kind of
-- nodes. It returns nil if there is no such file.
local function nodes_of(partition)
	local found = sidecar_file("accordion_nodes.lua")
	return found and found[partition] or nil
end

-- amount returns a number that a user gave. It returns nil for Slurm's values that mean no amount or any amount.
local function amount(value)
	if type(value) ~= "number" or value <= 0 or value == NO_VAL16 or value == 65535 then return nil end
	return value < 4294967290 and value or nil
end

local NOT_GRES = { bb = true, billing = true, cpu = true, energy = true, fs = true, ic = true, license = true, mem = true, node = true, pages = true, vmem = true }
local SUFFIX = {
	[""] = 1, k = 2 ^ 10, m = 2 ^ 20, g = 2 ^ 30, t = 2 ^ 40, p = 2 ^ 50,
	kib = 2 ^ 10, mib = 2 ^ 20, gib = 2 ^ 30, tib = 2 ^ 40, pib = 2 ^ 50,
	kb = 1e3, mb = 1e6, gb = 1e9, tb = 1e12, pb = 1e15,
}
local MAX_DEVICES = 2 ^ 50 -- the maximum count of one generic resource; larger counts are reduced to it

-- generic parses one item of a user's request: gres:gpu:2, gres/gpu:a100=2, gpu:2 (20.11) or gres:tmp:10G. It
-- returns the name, with its type, and the count. It returns nil for an item that is not a generic resource. The
-- same table of requests tests the sidecar's own parser (slurm/number).
local function generic(item)
	local parts = {}
	for part in item:gmatch("[^:/=]+") do
		if part:lower() ~= "no_consume" then parts[#parts + 1] = part end
	end
	local kind = (parts[1] or ""):lower()
	if kind == "gres" then table.remove(parts, 1) elseif NOT_GRES[kind] then return nil end
	if not parts[1] or parts[1]:lower() == "none" then return nil end
	local count = 1
	if #parts > 1 then
		local digits, suffix = parts[#parts]:match("^(%d+)(%a*)$")
		local unit = digits and SUFFIX[suffix:lower()]
		if unit then
			count = math.min(tonumber(digits) * unit, MAX_DEVICES)
			parts[#parts] = nil
		end
	end
	return table.concat(parts, ":"), count
end

-- featured returns a function that reports whether nodes with some features match an expression. Expressions with
-- counts or brackets, or with more than MAX_WANTS features, are left to Slurm.
local function featured(expression)
	local any = expression:find("|", 1, true) ~= nil
	local function perhaps() return true end
	if not expression:match("^[%w_.:+|&,-]+$") or any and expression:find("[&,]") then return perhaps end
	local names, count = {}, 0
	for name in expression:gmatch("[^|&,]+") do
		if not names[name] then count = count + 1 end
		if count > MAX_WANTS then return perhaps end
		names[name] = true
	end
	return function(has)
		for name in pairs(names) do
			if any == (has[name] == true) then return any end
		end
		return not any
	end
end

-- known returns a count, or infinity for 0, because 0 means that Slurm does not print the count.
local function known(count) return count > 0 and count or math.huge end

-- wants returns a list of what the job requests on each of its nodes. `nodes` is the number of the nodes, or nil if
-- it is not decided. Each entry has the user's option, and a function that reports whether a kind of nodes
-- satisfies the option. An entry for an amount also has the name of the amount, and a function that returns how
-- much of it a kind of nodes has. If there are more than MAX_WANTS entries, wants returns nil.
local function wants(job, nodes)
	local all = {}
	local function least(option, value, unit, has)
		if value then
			value = math.min(value, MAX_EACH)
			all[#all + 1] = { option = option:format(value), unit = unit, has = has, fits = function(kind) return has(kind) >= value end }
		end
	end
	local each, tasks = amount(job.cpus_per_task) or 1, amount(job.ntasks_per_node)
	local cpus, total = amount(job.min_cpus), amount(job.num_tasks)
	if nodes and total then tasks = math.max(tasks or 1, math.ceil(total / nodes)) end
	local crowded = cpus and total and cpus < total -- --overcommit
	local together = not crowded and tasks and tasks * each or nil
	if nodes and cpus and not amount(job.ntasks_per_node) then together = math.ceil(cpus / nodes) end
	local function processors(kind) return kind.cpus end
	least("--cpus-per-task=%d", each > 1 and each or nil, "CPUs", processors)
	if amount(job.pn_min_cpus) ~= each then least("--mincpus=%d", amount(job.pn_min_cpus), "CPUs", processors) end
	least("its tasks, which take %d CPUs on a node", together and together > each and together or nil, "CPUs", processors)
	least("--sockets-per-node=%d", amount(job.sockets_per_node), "sockets", function(kind) return known(kind.sockets) end)
	least("--cores-per-socket=%d", amount(job.cores_per_socket), "cores on a socket", function(kind) return known(kind.cores) end)
	least("--threads-per-core=%d", amount(job.threads_per_core), "threads on a core", function(kind) return known(kind.threads) end)
	-- Slurm needs a node with a CPU for each task on the node, however many threads a core has, unless another
	-- option gives the CPUs of a node.
	local per_core = not crowded and not amount(job.ntasks_per_node) and not amount(job.ntasks_per_socket) and amount(job.ntasks_per_core)
	least("--ntasks-per-core, which takes %d CPUs on a node", per_core and per_core * each, "CPUs", processors)
	least("--ntasks-per-socket=%d", amount(job.ntasks_per_socket), "threads on a socket", function(kind) return known(kind.cores * kind.threads) end)
	least("--tmp=%d", amount(job.pn_min_tmp_disk), "MB of temporary disk", function(kind) return kind.tmp end)
	local function memory(kind) return kind.mem > 1 and kind.mem or math.huge end -- 1 means that slurm.conf does not set the memory
	least("--mem=%dM", amount(job.min_mem_per_node), "MB of memory", memory)
	local per_cpu = amount(job.min_mem_per_cpu)
	least("--mem-per-cpu, which takes %d MB on a node", per_cpu and per_cpu * math.max(together or 1, each), "MB of memory", memory)
	local features = field(job.features)
	if features ~= "" then
		local has = featured(features)
		all[#all + 1] = { option = "--constraint=" .. shown(features), fits = function(kind) return has(kind.features) end }
	end
	for name_of, times in pairs({ tres_per_node = 1, tres_per_task = tasks or 1 }) do
		for item in field(job[name_of]):gmatch("[^,]+") do
			if #all > MAX_WANTS then return nil end
			local name, count = generic(item)
			if name then
				least("generic resource " .. shown(name):gsub("%%", "%%%%") .. ", %d on a node", count * times, "of it", function(kind) return kind.gres[name] or 0 end)
			end
		end
	end
	return all
end

-- why_unavailable returns why no nodes of the partition can ever satisfy the job, or nil if some can. At least
-- `needs` nodes of one kind must satisfy the job. `nodes` is the number of the job's nodes, or nil if it is not
-- decided. why_unavailable also returns nil if the sidecar has not listed the nodes or has ended, because then the
-- current nodes are unknown.
local function why_unavailable(job, partition, nodes, needs)
	local kinds = nodes_of(partition)
	if not kinds then return nil end
	local all, suit = wants(job, nodes), 0
	if not all then return nil end
	local options = {}
	for i, want in ipairs(all) do options[i] = want.option end
	for _, kind in ipairs(kinds) do
		local fits = true
		for _, want in ipairs(all) do fits = fits and want.fits(kind) end
		if fits then suit = suit + kind.count end
	end
	if suit >= needs or not sidecar_alive() then return nil end
	for _, want in ipairs(all) do
		local some, most = false, 0
		for _, kind in ipairs(kinds) do
			some = some or want.fits(kind)
			if want.has then most = math.max(most, want.has(kind)) end
		end
		if not some and want.has then
			return string.format("%s: the nodes of partition %s have at most %d %s", want.option, partition, most, want.unit)
		elseif not some then
			return string.format("%s: no node of partition %s has that", want.option, partition)
		end
	end
	if suit == 0 then return string.format("no node of partition %s has all that it asks for: %s", partition, table.concat(options, ", ")) end
	return string.format("%d of the nodes of partition %s have what it asks for, and it needs %d: %s", suit, partition, needs, table.concat(options, ", "))
end

-- check_startable rejects a job if no nodes of the partition can ever satisfy it. Slurm does the same at
-- submission, but checks a held job only when it is about to start.
local function check_startable(...)
	local why = why_unavailable(...)
	if why then error({ refusal = why, code = UNAVAILABLE }, 0) end
end

-- count_names returns the number of names in a host list such as n[1-3,07],r[1-2]n[1-4]. It returns nil for other
-- texts.
local function count_names(list)
	local sum = 0
	local apart = (list or ""):gsub("%b[]", function(ranges) return (ranges:gsub(",", ";")) end)
	for item in apart:gmatch("[^,]+") do
		local product = 1
		for ranges in item:gmatch("%[(.-)%]") do
			local count = 0
			for range in ranges:gmatch("[^;]+") do
				local first, last = range:match("^(%d+)%-(%d+)$")
				first, last = tonumber(first or range), tonumber(last or range)
				if not first or last < first then return nil end
				count = count + last - first + 1
			end
			if count == 0 then return nil end
			product = product * count
		end
		sum = sum + product
	end
	return sum > 0 and sum or nil
end

-- check_free_choice rejects a job that restricts the choice of its nodes although the sidecar must choose them.
-- `so` describes the job in the message: "evolving or moldable", or a part of an application.
local function check_free_choice(job, so)
	if job.het_job_offset and job.het_job_offset ~= NO_VAL then
		refuse("a heterogeneous job cannot be %s", so)
	elseif job.req_nodes and job.req_nodes ~= "" or job.exc_nodes and job.exc_nodes ~= "" then
		refuse("--nodelist and --exclude: the nodes of a job that is %s are chosen for it", so)
	elseif job.reservation and job.reservation ~= "" then
		refuse("--reservation: a job that is %s gets its own", so)
	elseif job.tres_per_job and job.tres_per_job ~= "" or job.tres_per_socket and job.tres_per_socket ~= "" then
		refuse("--gpus and --gpus-per-socket: how many nodes this job has is not settled, so say what each has: --gpus-per-node or --gpus-per-task")
	elseif field(job.features):find("[%[%]%*]") then
		refuse("--constraint=%s: counts and choices for all nodes in common are not for jobs whose nodes are chosen; write one feature, a&b or a|b", shown(job.features))
	end
end

-- check_fit rejects options that contradict the request, and a request that does not fit the partition.
local function check_fit(job, req, name, partition)
	local first, minutes = req.alternatives[1][1], req.minutes
	check_free_choice(job, "evolving or moldable")
	if asks_other_size(job, first.nodes) then
		refuse("--nodes contradicts %s=%s, which begins with %d: leave --nodes out", req.word, shown(req.text), first.nodes)
	elseif given(job.time_limit) and job.time_limit ~= minutes then
		refuse("--time contradicts %s=%s, which takes %d minutes: leave --time out", req.word, shown(req.text), minutes)
	elseif given(job.time_min) then
		refuse("--time-min: the length follows from %s=%s", req.word, shown(req.text))
	end
	local most = partition and (partition.total_nodes or count_names(partition.nodes)) -- 20.11 provides only the names of the nodes
	if most and partition.max_nodes and partition.max_nodes ~= INFINITE then most = math.min(most, partition.max_nodes) end
	local limit = partition and partition.max_time
	local bounded = limit and limit ~= INFINITE and limit ~= NO_VAL
	for i, s in each_step(req) do
		if most and s.nodes > most then
			refuse("%s, piece %d: %s is more than the %d nodes of partition %s", req.kind.name, i,
				shown(string.format("%dx%s", s.nodes, duration_text(s.seconds))), most, name)
		end
		if bounded and (req.word == "mold" and math.ceil(s.seconds / 60) or minutes) > limit and not req.alternatives[1].model then
			refuse("%s: longer than the %d minutes that partition %s allows", req.kind.name, limit, name)
		end
	end
	if bounded and req.alternatives[1].model then req.minutes = math.min(minutes, limit) end -- with more nodes than the model's smallest size the job takes less time, and may fit the partition's limit
end

-- check_step_lengths rejects a profile if one of its steps is shorter than accordion.lua allows (shortest_step, in
-- seconds), because each step costs slurmctld a change of the job's nodes.
local function check_step_lengths(req, shortest)
	if req.word ~= "ep" or type(shortest) ~= "number" then return end
	local i = 0
	for _, steps in ipairs(req.alternatives) do
		for _, s in ipairs(steps) do
			i = i + 1
			if #steps > 1 and s.seconds < shortest then
				refuse("%s, piece %d: %s is shorter than the %s that a step lasts at least on this cluster", req.kind.name, i,
					shown(string.format("%dx%s", s.nodes, duration_text(s.seconds))), duration_text(shortest))
			end
		end
	end
end

-- comment_text returns the request as it appears in squeue and sacct. It shortens a long request. AdminComment has
-- the complete request.
local function comment_text(req, own)
	local text = req.word .. "=" .. req.text
	if #text > MAX_COMMENT then
		text = (text:sub(1, MAX_COMMENT):match("^.*[,|]") or "") .. "..."
	end
	if own ~= "" and #text + 1 + #own <= MAX_COMMENT then text = text .. " " .. own end
	return text
end

-- export sets a variable in the environment of the job's script. It does nothing for a job without an environment
-- (salloc).
local function export(job, name, value)
	local ok, why = pcall(function() job.environment[name] = value end)
	if not ok then slurm.log_info("accordion: no %s for a job: %s", name, tostring(why)) end
end

-- exported reports whether the environment of the job's script has the variable.
local function exported(job, name)
	local ok, value = pcall(function() return job.environment[name] end)
	return ok and value
end

-- mark marks the job as managed, and holds it.
local function mark(job, req, own)
	job.comment = comment_text(req, own)
	job.admin_comment = MARK .. req.word .. "=" .. req.text
	job.priority = 0 -- held until the sidecar releases it
end

-- resize sets the job's nodes to those of its first step, and sets the number of its tasks. --ntasks-per-node takes
-- precedence over --ntasks.
local function resize(job, nodes)
	job.min_nodes, job.max_nodes = nodes, nodes
	if job.ntasks_per_node and job.ntasks_per_node ~= NO_VAL16 and job.ntasks_per_node > 0 then
		-- sbatch has counted the tasks for one node. Before 23.02 it passes this number to the script, where srun
		-- uses it.
		local each = job.cpus_per_task
		each = each and each ~= NO_VAL16 and each > 0 and each or 1
		if nodes * job.ntasks_per_node * each >= NO_VAL then
			refuse("--ntasks-per-node=%d: on %d nodes these are more tasks or CPUs than Slurm counts", job.ntasks_per_node, nodes)
		end
		job.num_tasks = nodes * job.ntasks_per_node
		for _, variable in ipairs({ "SLURM_NTASKS", "SLURM_NPROCS" }) do
			if exported(job, variable) then export(job, variable, tostring(job.num_tasks)) end
		end
		job.min_cpus = job.num_tasks * each
	end
end

-- accept applies an accepted request to the job.
local function accept(job, req, own)
	job.time_limit = req.minutes
	if job.requeue ~= 1 then job.requeue = 0 end -- the job is requeued only if its user allows that
	mark(job, req, own)
end

-- export_address sets the sidecar's address in the job's environment. A job without an environment (salloc) reads
-- the address from a file.
local function export_address(job, site)
	for name, value in pairs({ ACCORDION_ADDRESS = site.address, ACCORDION_MUNGE_SOCKET = site.munge_socket }) do
		if type(value) == "string" and value ~= "" then export(job, name, value) end
	end
end

-- accept_part accepts a part of an application. The application's launcher sets the job's size and time limit. Of
-- the job's own options only the number of tasks on each node is used.
local function accept_part(job, req, own, partitions)
	local site = settings()
	managed_partition(job, partitions, site.partitions)
	if job.array_inx and job.array_inx ~= "" then
		refuse("launch=%s: an array cannot be a part of an application: leave --array out", req.text)
	elseif given(job.time_min) then
		refuse("--time-min: how long a part of an application may run is its launcher's to say: leave it out")
	end
	check_free_choice(job, "a part of an application")
	check_startable(job, partitions_of(job, partitions), nil, 1)
	job.requeue = 0 -- only the launcher starts the application again
	mark(job, req, own)
	export_address(job, site)
end

-- manage handles a job with a request, and reports whether it has one.
local function manage(job, partitions)
	local req, own = request(job)
	if not req then return false end
	if req.word == LAUNCH then
		accept_part(job, req, own, partitions)
		return true
	end
	-- The sidecar sets size and time limit again when it has chosen an alternative. Until then the job has the size
	-- of the first alternative, and the longest duration of all.
	local length = req.alternatives[1][1].seconds
	if req.word == "ep" then
		for _, steps in ipairs(req.alternatives) do length = math.max(length, steps.total) end
	end
	req.minutes = math.ceil(length / 60)
	local site = settings()
	check_fit(job, req, managed_partition(job, partitions, site.partitions))
	check_step_lengths(req, site.shortest_step)
	check_limits(job, req)
	local first = req.alternatives[1][1].nodes
	resize(job, first)
	check_startable(job, partitions_of(job, partitions), first, fewest(req)) -- uses the new number of tasks, not the number that sbatch computed
	accept(job, req, own)
	export_address(job, site)
	tell_away(site)
	return true
end

-- gate_closed reports whether the gate is closed. It is if other jobs wait at the gate, and a sidecar runs that can
-- open it.
local function gate_closed()
	local all = slurm.reservations
	return sidecar_alive() and all[GATE] and not all[OPEN]
end

-- needs_part_of_nodes reports whether Slurm may reject the job, or never start it, if the job gets whole nodes.
-- With --cpus-per-gpu a job on a whole node needs CPUs for all GPUs of the node. With --overcommit 24.11 lets the
-- job wait forever. A job with --overcommit has fewer CPUs than tasks.
local function needs_part_of_nodes(job)
	if given(job.cpus_per_tres) and job.cpus_per_tres ~= "" then return true end
	return given(job.num_tasks) and given(job.min_cpus) and job.min_cpus < job.num_tasks
end

-- send_to_gate makes a job without a request wait at the gate, in a partition with manage = "all". Some jobs do not
-- wait at the gate, and Slurm alone starts them: jobs that the sidecar cannot plan (with several partitions, in a
-- reservation, on nodes that they name, arrays, heterogeneous jobs), jobs that their owner holds, and jobs that
-- must start immediately. A job that can never start does not wait at the gate either, because Slurm rejects it
-- with its own message.
local function send_to_gate(job, partitions)
	local site = settings()
	if site.manage ~= "all" then return end
	local name, ours = partitions_of(job, partitions), false
	for _, each in ipairs(site.partitions) do ours = ours or each == name end
	if not ours then return end
	simplify(job, name)
	if not needs_part_of_nodes(job) then job.shared = 0 end -- the job gets whole nodes, because the plan counts whole nodes
	if job.array_inx and job.array_inx ~= "" or job.priority == 0 or given(job.immediate) or not pcall(check_free_choice, job, "") then return end
	if not gate_closed() then return end
	local most = given(job.max_nodes)
	local ok, never = pcall(why_unavailable, job, name, most and job.max_nodes or nil, given(job.min_nodes) and job.min_nodes or 1)
	if not (ok and never) then job.reservation = GATE end
end

-- is_growth reports whether a submission is an allocation by which the sidecar makes a job grow, as the job's
-- owner. Only root can make reservations with such names, and only the job's owner may use such a reservation. So a
-- forged submission can at worst take the nodes of the next step of the owner's own job.
local function is_growth(job)
	local verb, parent = field(job.name):match("^accordion%-(%l+)%-(%d+)$")
	if verb ~= "grow" and verb ~= "over" and verb ~= "with" or #parent > 10 then return false end
	local reserved = field(job.reservation):match("^accordion%-" .. parent .. "%-%d+$")
	-- The task whose job id is the array's id is written as NUMBER_TASK, because Slurm rejects the bare number while
	-- other tasks wait.
	local dependency = job.dependency or ""
	local of, task = dependency:match("^expand:(%d+)(_?%d*)$")
	local expands = of == parent and (task == "" or #task <= 11 and task:match("^_%d+$") ~= nil)
	return reserved and (dependency == "" or expands) and not job.script
end

-- uses_our_names checks a text that a user submits for names that only the sidecar, which is root, may use. It
-- returns the reason if the text has such a name. Slurm accepts the words of a dependency in upper and lower case,
-- and several dependencies separated by , or ?. Slurm itself distinguishes case in the names of reservations and
-- jobs. But the accounting database ignores case in job names, so all spellings of these names are rejected.
local function uses_our_names(job)
	if field(job.dependency, MAX_DEPENDENCY):lower():find("expand", 1, true) then return "--dependency=expand: is not for users" end
	if ("," .. field(job.reservation):lower()):find(",%s*accordion%-") then return "reservations " .. PREFIX .. "... are not for users" end
	if field(job.name):lower():find("^%s*accordion%-%l+%-%d") then return "job names " .. PREFIX .. "... are not for users" end
end

-- managed_target returns a managed partition among the partitions that the job names. If the job names none, it
-- returns the default partition if that is managed. It returns nil if there is no managed partition.
local function managed_target(job, partitions, managed)
	local names = "," .. partitions_of(job, partitions) .. ","
	for _, each in ipairs(managed) do
		if names:find("," .. each .. ",", 1, true) then return each end
	end
end

-- forbid_sharing prevents a job of a managed partition from sharing its cores. Slurm may count the cores of a
-- managed job twice for a moment while the job grows, and must not give them to another job.
local function forbid_sharing(job, partitions)
	if job.shared ~= 1 then return end
	local ok, site = pcall(settings)
	local name = ok and managed_target(job, partitions, site.partitions)
	if name then
		job.shared = NO_VAL16
		slurm.log_user("accordion: --oversubscribe is without effect in partition %s: jobs that grow have their cores for themselves", name)
	end
end

-- moves_in reports whether a change moves a job into a managed partition to which it was not submitted. Such a job
-- may share its cores, because forbid_sharing did not see it, and Slurm does not pass that setting to a plug-in.
local function moves_in(change, job, partitions)
	if not change.partition or change.partition == "" then return false end
	local ok, site = pcall(settings)
	return ok and managed_target(change, partitions, site.partitions) ~= nil and managed_target(job, partitions, site.partitions) == nil
end

-- looks_managed reports whether a job seems to have a request. It is used after a fault in the rest of this script.
local function looks_managed(job)
	local said = field(job.comment):match("^%s*(%l+)=")
	if said and (KINDS[said] or said == LAUNCH) then return true end
	local head = prelude(job.script or "")
	if head:find("\n#EP%s") or head:find("\n#MOLD%s") then return true end
	local seen = 0
	for _, option in pairs(job.spank_job_env or {}) do
		seen = seen + 1
		if seen > MAX_OPTIONS then break end
		if tostring(option):sub(1, 64):find("_SLURM_SPANK_OPTION_accordion_", 1, true) == 1 then return true end
	end
	return false
end

function slurm_job_submit(job, partitions, uid)
	local seen, ours = pcall(uses_our_names, job)
	local checked, grown = pcall(is_growth, job)
	if uid ~= 0 and checked and grown then
		job.priority = TOP
		return slurm.SUCCESS
	end
	if seen and ours and uid ~= 0 then
		slurm.log_user("accordion: %s", ours)
		return DENIED
	end
	-- An expander belongs to a managed job and is never a managed job itself.
	if seen and ours then return slurm.SUCCESS end
	if uid ~= 0 then pcall(forbid_sharing, job, partitions) end
	local ok, why = pcall(manage, job, partitions)
	if ok then
		if not why and uid ~= 0 then pcall(send_to_gate, job, partitions) end
		return slurm.SUCCESS
	end
	if type(why) == "table" and why.refusal then
		slurm.log_user("accordion: %s", why.refusal)
		return why.code or slurm.ERROR
	end
	-- This is a fault in this script. An ordinary job must pass anyway, and a managed job must not run as an
	-- ordinary job.
	slurm.log_error("accordion: job_submit.lua: %s", tostring(why))
	if not looks_managed(job) then return slurm.SUCCESS end
	slurm.log_user("accordion: the submission plug-in failed; its administrator finds why in slurmctld's log")
	return slurm.ERROR
end

-- operator reports whether Slurm lets a user administer all jobs. That user is SlurmUser, or has the AdminLevel
-- Operator or Administrator. The list is from the sidecar's accordion_operators.lua.
local function operator(uid) return (sidecar_file("accordion_operators.lua") or {})[uid] == true end

-- is_protected reports whether only root and operators may change the job. The job is managed, or belongs to a
-- managed job.
local function is_protected(job)
	local mark = job.admin_comment or ""
	return mark:sub(1, #MARK) == MARK or mark:sub(1, #COMPANION) == COMPANION or uses_our_names({ name = job.name }) ~= nil
end

-- leaves_gate reports whether a change would remove a job from the gate. The job's owner may make all other changes
-- that Slurm allows.
local function leaves_gate(change, job) return job.resv_name == GATE and change.reservation ~= nil end

-- slurm_job_modify lets the owner of a managed job only cancel it, because a change of the job's reservation or
-- size would break the plan. An operator may change it as root may, except for names of the sidecar. Slurm drops
-- log_user here, so the return code must express the reason.
function slurm_job_modify(change, job, partitions, uid)
	if uid == 0 then return slurm.SUCCESS end
	local ok, refused = pcall(function()
		if uses_our_names(change) ~= nil then return true end
		return (is_protected(job) or leaves_gate(change, job) or moves_in(change, job, partitions)) and not operator(uid)
	end)
	if not ok then slurm.log_error("accordion: job_submit.lua: %s", tostring(refused)) end
	if ok and refused then
		slurm.log_info("accordion: refused a change of job %s by user %s", tostring(job.job_id), tostring(uid))
		return DENIED
	end
	return slurm.SUCCESS
end

return slurm.SUCCESS
