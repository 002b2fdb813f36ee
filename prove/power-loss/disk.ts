import { basename, dirname, join } from 'node:path'
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

/** What is named on a disk. A folder has its names as processes see them, and as they are on the disk. */
type Entry = File | Folder
type Names = Map<string, Entry>
interface Folder {
  readonly names: Names
  readonly kept: Names
}

/** A change of the names in a folder. */
interface Naming {
  readonly number: number
  readonly folder: Folder
  readonly apply: (names: Names) => void
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
 * named in its folder, and has done so when it ends. What a folder names is only safe by a sync of this folder; of what is not, a loss of
 * power keeps the first ones, as file systems with a log do.
 */
export function openDisk() {
  const root: Folder = { names: new Map(), kept: new Map() }
  const inodes = new Map<number, Entry>()
  let namings: Naming[] = []
  /** The records at which the syncs of an inode began that have not ended. */
  const begun = new Map<number, number[]>()

  function folderOf(path: string): Folder {
    const folder = entryAt(dirname(path))
    if (folder === undefined || isFile(folder)) throw new Error(`No record makes the folder of ${path}.`)
    return folder
  }

  function entryAt(path: string): Entry | undefined {
    if (path === '' || path === '.') return root
    return folderOf(path).names.get(basename(path))
  }

  function name(number: number, folder: Folder, apply: Naming['apply']): void {
    apply(folder.names)
    namings.push({ number, folder, apply })
  }

  function change(inode: number, one: Change): void {
    const file = inodes.get(inode)
    if (file !== undefined && isFile(file)) file.pending.push(one)
  }

  function sync(inode: number, before: number): void {
    const entry = inodes.get(inode)
    if (entry === undefined) return
    if (!isFile(entry)) {
      const isSynced = (one: Naming): boolean => one.folder === entry && one.number < before
      for (const one of namings.filter(isSynced)) one.apply(entry.kept)
      namings = namings.filter((one) => !isSynced(one))
      return
    }
    for (const one of entry.pending) if (one.number < before) entry.content = applied(entry.content, one)
    entry.pending = entry.pending.filter((one) => one.number >= before)
  }

  return {
    /** Does what was recorded. `number`: its place in all records. */
    apply(record: FileRecord, number: number): void {
      switch (record.kind) {
        case 'open': {
          if (IN_MEMORY.test(record.name)) return
          const known = entryAt(record.name)
          if (known !== undefined && (!isFile(known) || inodes.get(record.inode) === known)) {
            inodes.set(record.inode, known)
            if (record.empties) change(record.inode, { kind: 'truncate', number, size: 0 })
            return
          }
          // An inode of a file that has no name any longer is used again.
          const file: File = { content: Buffer.alloc(0), pending: [] }
          inodes.set(record.inode, file)
          return name(number, folderOf(record.name), (of) => void of.set(basename(record.name), file))
        }
        case 'mkdir': {
          const made: Folder = { names: new Map(), kept: new Map() }
          return name(number, folderOf(record.name), (of) => void of.set(basename(record.name), made))
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
        case 'link': {
          const folder = folderOf(record.name)
          if (folderOf(record.other) !== folder) throw new Error(`${record.other} is in another folder.`)
          return name(number, folder, (of) => {
            const file = of.get(basename(record.name))
            if (record.kind === 'rename') of.delete(basename(record.name))
            if (file !== undefined) of.set(basename(record.other), file)
          })
        }
        case 'unlink':
          return name(number, folderOf(record.name), (of) => void of.delete(basename(record.name)))
      }
    },

    /** The files after a loss of power now, by their paths. */
    cut: (random: Random): ReadonlyMap<string, Buffer> => filesLeft(root, namings, random),
  }
}

function filesLeft(root: Folder, namings: readonly Naming[], random: Random): ReadonlyMap<string, Buffer> {
  const left = new Map<Folder, Names>()
  const leftOf = (folder: Folder): Names => {
    const names = left.get(folder) ?? new Map(folder.kept)
    left.set(folder, names)
    return names
  }
  for (const { folder, apply } of namings.slice(0, Math.floor(random() * (namings.length + 1)))) apply(leftOf(folder))
  // Of some losses nothing else is kept, and of some all.
  const share = [0, 0.5, 1][Math.floor(random() * 3)] ?? 0
  const filesOf = (folder: Folder, path: string): readonly (readonly [string, Buffer])[] =>
    [...leftOf(folder)].flatMap(([own, entry]) =>
      isFile(entry) ? [[join(path, own), tornContent(entry, share, random)] as const] : filesOf(entry, join(path, own)),
    )
  return new Map(filesOf(root, ''))
}

function isFile(entry: Entry): entry is File {
  return 'content' in entry
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
