import { readdirSync, readFileSync } from 'node:fs'

/** The processor time of a process since its start, and its current memory. */
export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number
  readonly residentBytes: number
  /** Of these, what belongs to no file: the memory of its own, without the pages of the runtime that all of its processes share. */
  readonly anonymousBytes: number
}

/** USER_HZ, which is always 100 in the interfaces of Linux (proc(5)). */
const TICK_MS = 10

/** The resources that a process and its descendants used, including ended ones. undefined on a system without /proc. */
export function readTreeUsage(root: number): Usage | undefined {
  const used = listTree(root).map((pid) => readUsage(pid))
  if (used[0] === undefined) return undefined
  const sum = (read: (usage: Usage) => number): number =>
    used.reduce((total, usage) => total + (usage === undefined ? 0 : read(usage)), 0)
  return {
    // Fields 16 and 17 of stat: the time of children that have ended.
    cpuMs: sum(({ cpuMs }) => cpuMs) + parseCpuMs(readFileSync(`/proc/${root}/stat`, 'utf8'), 16),
    residentBytes: sum(({ residentBytes }) => residentBytes),
    anonymousBytes: sum(({ anonymousBytes }) => anonymousBytes),
  }
}

const WATCH_MS = 200

/** Watches the memory of a process until `end` is called, which returns the largest megabytes. 0 on a system without /proc. */
export function watchMemory(pid: number): { readonly end: () => number } {
  let most = 0
  const timer = setInterval(() => (most = Math.max(most, readTreeUsage(pid)?.residentBytes ?? 0)), WATCH_MS)
  return {
    end() {
      clearInterval(timer)
      return most / 1e6
    },
  }
}

/** A process and its running descendants. Only the process itself on a system without /proc. */
export function listTree(root: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const pid of listProcesses()) {
    const parent = parentOf(pid)
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Returns undefined on a system without /proc. */
export function readUsage(pid: number): Usage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return {
      // The first is rounded down, and the second lacks the threads that have ended.
      cpuMs: Math.max(parseCpuMs(readFileSync(`/proc/${pid}/stat`, 'utf8')), readThreadsMs(pid)),
      residentBytes: parseBytes(status, 'VmRSS'),
      anonymousBytes: parseBytes(status, 'RssAnon'),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}

/** User and system time of the running threads, in steps of a nanosecond. 0 where Linux does not count it. */
function readThreadsMs(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readIfThere(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
  )
  return nanoseconds.reduce((total, one) => total + one, 0) / 1e6
}

/** User and system time of the first thread of a process, which in Node.js serves requests. undefined where Linux does not count it. */
export function readMainThreadMs(pid: number): number | undefined {
  const [nanoseconds] = readIfThere(`/proc/${pid}/task/${pid}/schedstat`)?.split(' ') ?? []
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6
}

/** undefined: the process or the thread has ended. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    // ESRCH: it ended between opening and reading.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw cause
  }
}

/** User and system time, the given field of /proc/<pid>/stat and the next one, 14 and 15 for the process itself. */
export function parseCpuMs(stat: string, field = 14): number {
  const fields = fieldsOf(stat)
  const [user, system] = [Number(fields[field - 3]), Number(fields[field - 2])]
  if (!Number.isInteger(user) || !Number.isInteger(system)) throw new Error(`This is not /proc/<pid>/stat: ${stat}`)
  return (user + system) * TICK_MS
}

/** VmRSS of /proc/<pid>/status. */
export function parseBytes(status: string, member: 'VmRSS' | 'RssAnon'): number {
  const kilobytes = new RegExp(`^${member}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`/proc/<pid>/status has no ${member}.`)
  return Number(kilobytes) * 1024
}

/** Parses a list such as `0-3,8`, the format of Cpus_allowed_list. */
export function parseCores(list: string): readonly number[] {
  return list
    .trim()
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, offset) => first + offset)
    })
}

/** The third and later fields. The second is the command in parentheses, which may contain any character. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isInteger(pid) && pid > 0)
  } catch {
    return []
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(fieldsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))[1])
  } catch {
    // The process has just ended.
    return undefined
  }
}
