import { readdirSync, readFileSync } from 'node:fs'
import { parseCpuMs, readUsage, type Usage } from './process-usage.ts'

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

/** The resources that a process and its descendants used, including ended ones. undefined on a system without /proc. */
export function readTreeUsage(root: number): Usage | undefined {
  const used = listTree(root).map((pid) => readUsage(pid))
  if (used[0] === undefined) return undefined
  const sum = (read: (usage: Usage) => number): number =>
    used.reduce((total, usage) => total + (usage === undefined ? 0 : read(usage)), 0)
  return {
    cpuMs: sum(({ cpuMs }) => cpuMs) + endedCpuMs(root),
    residentBytes: sum(({ residentBytes }) => residentBytes),
  }
}

/** The processor time of ended children: fields 16 and 17 of /proc/<pid>/stat, parsed as if they were 14 and 15. */
function endedCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const command = stat.slice(0, stat.lastIndexOf(')') + 2)
  const fields = stat.slice(command.length).split(' ')
  return parseCpuMs(command + [...fields.slice(0, 11), ...fields.slice(13)].join(' '))
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
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // The process has just ended.
    return undefined
  }
}
