import { readFileSync } from 'node:fs'

/** The processor time of a process since its start, and its current memory. */
export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number
  readonly residentBytes: number
}

/** USER_HZ, which is always 100 in the interfaces of Linux (proc(5)). */
const TICK_MS = 10

/** Returns undefined on a system without /proc. */
export function readUsage(pid: number): Usage | undefined {
  try {
    return {
      cpuMs: parseCpuMs(readFileSync(`/proc/${pid}/stat`, 'utf8')),
      residentBytes: parseResidentBytes(readFileSync(`/proc/${pid}/status`, 'utf8')),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}

/** Fields 14 and 15 of /proc/<pid>/stat. The second field is the command in parentheses, which may contain any character, so it is removed first. */
export function parseCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  if (!Number.isInteger(user) || !Number.isInteger(system)) throw new Error(`This is not /proc/<pid>/stat: ${stat}`)
  return (user + system) * TICK_MS
}

/** VmRSS of /proc/<pid>/status. */
export function parseResidentBytes(status: string): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kilobytes === undefined) throw new Error('/proc/<pid>/status has no VmRSS.')
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
