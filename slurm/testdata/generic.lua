-- Parses lists of resources, one a line in hexadecimal, with job_submit.lua's parser and prints each result: NAME
-- COUNT, ...
--
-- usage: lua5.1 generic.lua PATH/job_submit.lua <lists
slurm = { SUCCESS = 0, ERROR = -1 }
assert(loadfile(arg[1]))()

-- find returns the local function of that name that f calls, directly or not.
local seen = {}
local function find(f, name)
	if seen[f] then return nil end
	seen[f] = true
	local i = 1
	while true do
		local key, value = debug.getupvalue(f, i)
		if not key then return nil end
		if type(value) == "function" then
			local found = key == name and value or find(value, name)
			if found then return found end
		end
		i = i + 1
	end
end
local generic = assert(find(slurm_job_submit, "generic"), "job_submit.lua has no function generic")

for line in io.lines() do
	local list = line:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
	local all = {}
	for item in list:gmatch("[^,]+") do
		local name, count = generic(item)
		if name then all[#all + 1] = string.format("%s %.0f", name, count) end
	end
	print(table.concat(all, ", "))
end
