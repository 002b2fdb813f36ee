import { BACKUPS } from './backups.ts'
import { DATA, type Run } from './campaign.ts'
import type { FileRecord } from './records.ts'

/** Defects of a server, each as what would be recorded of a server that has it. */
export const PLANTED: Readonly<Record<string, (run: Run) => Run>> = {
  'synchronous = off': (run) => withoutSyncs(run, (name) => /^data\/grantor\.db(-wal|-journal)?$/.test(name)),
  'no sync of the data folder': (run) => withoutSyncs(run, (name) => name === DATA),
  'no sync of the folder above': (run) => withoutSyncs(run, (name) => name === ''),
  'no sync of the content of a backup': (run) => withoutSyncs(run, (name) => name.startsWith(`${BACKUPS}/`)),
  'no sync of the folder of the backups': (run) => withoutSyncs(run, (name) => name === BACKUPS),
  'an answer before the sync of its commit': answeringEarly,
}

function withoutSyncs(run: Run, isWithout: (name: string) => boolean): Run {
  const names = new Map<number, string>()
  const isKept = (record: FileRecord): boolean => {
    if (record.kind === 'open') names.set(record.inode, record.name)
    const isSync = record.kind === 'begin-sync' || record.kind === 'end-sync'
    return !isSync || !isWithout(names.get(record.inode) ?? '')
  }
  return { ...run, records: run.records.filter(isKept) }
}

/** Each answer is as early as the beginning of the last sync that ended before it. */
function answeringEarly(run: Run): Run {
  const syncs: { readonly beganNs: bigint; readonly endedNs: bigint }[] = []
  const begun = new Map<number, bigint[]>()
  for (const record of run.records) {
    if (record.kind === 'begin-sync') begun.set(record.inode, [...(begun.get(record.inode) ?? []), record.atNs])
    if (record.kind !== 'end-sync') continue
    const beganNs = begun.get(record.inode)?.shift()
    if (beganNs !== undefined) syncs.push({ beganNs, endedNs: record.atNs })
  }
  const early = (ackNs: bigint): bigint => syncs.findLast(({ endedNs }) => endedNs <= ackNs)?.beganNs ?? ackNs
  return {
    ...run,
    things: run.things.map((thing) => ({
      ...thing,
      steps: thing.steps.map((step) => ({ ...step, ackNs: step.ackNs && later(early(step.ackNs), step.sentNs) })),
    })),
  }
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
