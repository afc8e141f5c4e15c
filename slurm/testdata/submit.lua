-- A stand-in for slurmctld: submits jobs to a job_submit.lua and prints the resulting jobs.
--
-- usage: lua5.1 submit.lua PATH/job_submit.lua NODES <jobs
--
-- NODES are the nodes of each partition: their number, or their names as Slurm 20.11 passes them. A job is a line of
-- NAME=VALUE words; a value is #NUMBER or the hexadecimal digits of a string. DIGITS*COUNT repeats a string, and +
-- joins strings. The output is a line of the same form: the job's fields after the plug-in, the return code in rc,
-- and the message to the user in user. Fields env.NAME are the job's environment; with env=#0 the job has no
-- environment. Field spank is its spank_job_env, one NAME=VALUE a line. With timed=#1 the output has took, the
-- microseconds of CPU time in the plug-in, and reads, the number of times that the plug-in read the script. Slurm
-- copies the script each time.

slurm = {
	SUCCESS = 0, ERROR = -1, NO_VAL = 4294967294, NO_VAL16 = 65534, ESLURM_ACCESS_DENIED = 2002,
	log_info = function() end,
}
local told, faults
function slurm.log_user(...) told = string.format(...) end
function slurm.log_error(...) faults = string.format(...) end

local function unhex(text)
	return (text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- text decodes DIGITS*COUNT+DIGITS...
local function text(value)
	if not value:find("[*+]") then return unhex(value) end
	local parts = {}
	for digits, count in value:gmatch("(%x+)%*?(%d*)") do parts[#parts + 1] = unhex(digits):rep(tonumber(count) or 1) end
	return table.concat(parts)
end

local function hex(text)
	return (text:gsub(".", function(c) return string.format("%02x", c:byte()) end))
end

-- Slurm's table of a job raises an error if a string is set to nil, or a field is unknown to it.
local writable = {
	min_nodes = "number", max_nodes = "number", num_tasks = "number", min_cpus = "number", time_limit = "number",
	shared = "number", reservation = "string", partition = "string", requeue = "number", priority = "number", comment = "string", admin_comment = "string",
}
local function environment(fields)
	return setmetatable({}, {
		__index = function(_, name) return fields["env." .. name] end,
		__newindex = function(_, name, value)
			assert(fields.env ~= 0, "job_desc->environment is NULL")
			fields["env." .. name] = value
		end,
	})
end

local function record(fields)
	local surroundings = environment(fields)
	return setmetatable({}, {
		__index = function(_, name)
			if name == "environment" then return surroundings end
			if name == "script" and fields.timed then fields.reads = (fields.reads or 0) + 1 end
			return fields[name]
		end,
		__newindex = function(_, name, value)
			assert(writable[name] == type(value), "bad argument: " .. name .. " = " .. tostring(value))
			fields[name] = value
		end,
	})
end

-- The file reservations.lua in the plug-in's folder may list the reservations.
local reservations = loadfile((arg[1]:match("^.*/") or "./") .. "reservations.lua")
slurm.reservations = reservations and reservations() or nil

assert(loadfile(arg[1]))()

local size = tonumber(arg[2])
local list = not size and arg[2] or nil
local partitions = {
	main = { flag_default = 1, total_nodes = size, nodes = list, max_nodes = 4294967295, max_time = 4294967295 },
	shared = { flag_default = 0, total_nodes = size, nodes = list, max_nodes = 4294967295, max_time = 4294967295 },
}

for line in io.lines() do
	local fields = { min_nodes = 4294967294, max_nodes = 4294967294, time_limit = 4294967294, het_job_offset = 4294967294 }
	for name, value in line:gmatch("(%S+)=(%S*)") do
		fields[name] = value:sub(1, 1) == "#" and tonumber(value:sub(2)) or text(value)
	end
	if fields.spank then
		local options, n = {}, 0
		for option in fields.spank:gmatch("[^\n]+") do
			options[n], n = option, n + 1 -- Slurm counts from 0
		end
		fields.spank_job_env = options
	end
	told, faults = nil, nil
	local uid = fields.uid or 1000
	local rc
	if fields.timed then collectgarbage() end
	local began = os.clock()
	if fields.modify then
		rc = slurm_job_modify(record({ dependency = fields.dependency, partition = fields.to, reservation = fields.into, name = fields.into_name }), fields, partitions, uid)
	else
		rc = slurm_job_submit(record(fields), partitions, uid)
	end
	if fields.timed then fields.took = math.ceil((os.clock() - began) * 1e6) end
	fields.script, fields.spank_job_env, fields.rc, fields.user, fields.fault = nil, nil, rc, told, faults
	local words = {}
	for name, value in pairs(fields) do
		if fields.timed and type(value) == "string" then value = value:sub(1, 4096) end
		words[#words + 1] = name .. "=" .. (type(value) == "number" and string.format("#%.0f", value) or hex(value))
	end
	print(table.concat(words, " "))
	io.stdout:flush()
end
