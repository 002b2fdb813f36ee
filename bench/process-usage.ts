import { readFileSync } from 'node:fs'

/** What a process used since it began, and the memory that it has now. */
export interface Usage {
  /** User and system time of all its threads. */
  readonly cpuMs: number
  readonly residentBytes: number
}

/** USER_HZ, which Linux fixes at 100 for everything that it tells programs (proc(5)). */
const TICK_MS = 10

/** undefined where there is no /proc. */
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

/** Fields 14 and 15 of /proc/<pid>/stat. The second one is the command in parentheses and may hold anything, so it is cut first. */
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

/** `0-3,8` as the numbers that it means; the form of Cpus_allowed_list. */
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
