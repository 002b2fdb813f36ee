import type { FileRecord } from './records.ts'

/** What a file has on the disk, and what was done to it since the last sync, in order. */
interface File {
  content: Buffer
  pending: Change[]
}

/** A change of a file. `number`: its place in all records. */
type Change =
  | { readonly kind: 'write'; readonly number: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly number: number; readonly size: number }

/** A change of the names in the folder. */
interface Naming {
  readonly number: number
  readonly apply: (names: Map<string, File>) => void
}

/** From 0 to 1. */
type Random = () => number

/** What a disk writes at once, of which a loss of power may leave a part. */
const PIECE_BYTES = 4096
const SECTOR_BYTES = 512
/** The index of the log is in memory, and made again at the first opening (https://sqlite.org/walformat.html §2). */
const IN_MEMORY = /-shm$/

/**
 * A disk that keeps what was synced, and nothing else for certain. A sync keeps what was written to its file before it began, and what was
 * named in its folder, and has done so when it ends. What a folder names is only safe by a sync of the folder; of what is not, a loss of
 * power keeps the first ones, as file systems with a log do.
 */
export function openDisk() {
  const files = new Map<number, File>()
  /** What the process sees, and what is on the disk. */
  const names = new Map<string, File>()
  const kept = new Map<string, File>()
  let namings: Naming[] = []
  let folder: number | undefined
  /** The records at which the syncs of an inode began that have not ended. */
  const begun = new Map<number, number[]>()

  function name(number: number, apply: Naming['apply']): void {
    apply(names)
    namings.push({ number, apply })
  }

  function change(inode: number, one: Change): void {
    files.get(inode)?.pending.push(one)
  }

  function sync(inode: number, before: number): void {
    if (inode === folder) {
      for (const one of namings) if (one.number < before) one.apply(kept)
      namings = namings.filter((one) => one.number >= before)
      return
    }
    const file = files.get(inode)
    if (file === undefined) return
    for (const one of file.pending) if (one.number < before) file.content = applied(file.content, one)
    file.pending = file.pending.filter((one) => one.number >= before)
  }

  return {
    /** Does what was recorded. `number`: its place in all records. */
    apply(record: FileRecord, number: number): void {
      switch (record.kind) {
        case 'open': {
          if (record.name === '') folder = record.inode
          if (record.name === '' || IN_MEMORY.test(record.name)) return
          const known = files.get(record.inode)
          if (known !== undefined && names.get(record.name) === known) {
            if (record.empties) change(record.inode, { kind: 'truncate', number, size: 0 })
            return
          }
          // An inode of a file that has no name any longer is used again.
          const file: File = { content: Buffer.alloc(0), pending: [] }
          files.set(record.inode, file)
          return name(number, (of) => void of.set(record.name, file))
        }
        case 'write':
          return change(record.inode, { kind: 'write', number, offset: record.offset, data: record.data })
        case 'truncate':
          return change(record.inode, { kind: 'truncate', number, size: record.size })
        case 'begin-sync':
          begun.set(record.inode, [...(begun.get(record.inode) ?? []), number])
          return
        case 'end-sync': {
          const [first = number, ...others] = begun.get(record.inode) ?? []
          begun.set(record.inode, others)
          return sync(record.inode, first)
        }
        case 'rename':
          return name(number, (of) => {
            const file = of.get(record.name)
            of.delete(record.name)
            if (file !== undefined) of.set(record.other, file)
          })
        case 'link':
          return name(number, (of) => {
            const file = of.get(record.name)
            if (file !== undefined) of.set(record.other, file)
          })
        case 'unlink':
          return name(number, (of) => void of.delete(record.name))
      }
    },

    /** The files after a loss of power now. */
    cut(random: Random): ReadonlyMap<string, Buffer> {
      const left = new Map(kept)
      for (const one of namings.slice(0, Math.floor(random() * (namings.length + 1)))) one.apply(left)
      // Of some losses nothing else is kept, and of some all.
      const share = [0, 0.5, 1][Math.floor(random() * 3)] ?? 0
      return new Map([...left].map(([path, file]) => [path, tornContent(file, share, random)]))
    },
  }
}

function applied(content: Buffer, change: Change): Buffer {
  if (change.kind === 'truncate') return resized(content, change.size)
  const whole = resized(content, Math.max(content.length, change.offset + change.data.length))
  change.data.copy(whole, change.offset)
  return whole
}

function resized(content: Buffer, size: number): Buffer {
  if (size <= content.length) return content.subarray(0, size)
  const whole = Buffer.alloc(size)
  content.copy(whole)
  return whole
}

/** A share of what was not synced, in pieces of which one may be torn. */
function tornContent({ content, pending }: File, share: number, random: Random): Buffer {
  let left: Buffer = Buffer.from(content)
  for (const one of pending) {
    if (one.kind === 'truncate') {
      if (random() < share) left = applied(left, one)
      continue
    }
    const end = one.offset + one.data.length
    for (let from = one.offset; from < end;) {
      const to = Math.min(end, (Math.floor(from / PIECE_BYTES) + 1) * PIECE_BYTES)
      if (random() < share) {
        const isTorn = share < 1 && random() < 0.1
        const length = isTorn
          ? Math.min(to - from, SECTOR_BYTES * Math.floor((random() * PIECE_BYTES) / SECTOR_BYTES))
          : to - from
        const start = from - one.offset
        left = applied(left, { ...one, offset: from, data: one.data.subarray(start, start + length) })
      }
      from = to
    }
  }
  return left
}
