import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { faultsOfBackups } from '../../prove/power-loss/backups.ts'
import { openDisk } from '../../prove/power-loss/disk.ts'
import { faultOf, type Thing } from '../../prove/power-loss/ledger.ts'
import type { Recorded } from '../../prove/power-loss/records.ts'

const FOLDER = 1
const [FILE, DRAFT] = [2, 3]
const opened: readonly Recorded[] = [
  { kind: 'open', inode: FOLDER, name: '', empties: false },
  { kind: 'open', inode: FILE, name: 'file', empties: false },
]
const write = (inode: number, text: string, offset = 0): Recorded => ({
  kind: 'write',
  inode,
  offset,
  data: Buffer.from(text),
})
const begin = (inode: number): Recorded => ({ kind: 'begin-sync', inode })
const end = (inode: number): Recorded => ({ kind: 'end-sync', inode })

/** What a loss of power leaves that keeps nothing without a sync, and one that keeps all. */
function left(records: readonly Recorded[]): readonly Readonly<Record<string, string>>[] {
  return [0, 0.999].map((chance) => {
    const disk = openDisk()
    for (const [number, record] of [...opened, ...records].entries())
      disk.apply({ ...record, atNs: BigInt(number) }, number)
    return Object.fromEntries([...disk.cut(() => chance)].map(([name, content]) => [name, content.toString()]))
  })
}

test('a loss of power keeps what was written before a sync began that has ended, and names by a sync of the folder', () => {
  const named = [begin(FOLDER), end(FOLDER)]
  assert.deepEqual(left([write(FILE, 'one'), begin(FILE), end(FILE)]), [{}, { file: 'one' }])
  assert.deepEqual(left([...named, write(FILE, 'one'), begin(FILE)]), [{ file: '' }, { file: 'one' }])
  assert.deepEqual(left([...named, write(FILE, 'one'), begin(FILE), write(FILE, 'two'), end(FILE)]), [
    { file: 'one' },
    { file: 'two' },
  ])
  assert.deepEqual(
    left([...named, write(FILE, 'long'), begin(FILE), end(FILE), { kind: 'truncate', inode: FILE, size: 2 }]),
    [{ file: 'long' }, { file: 'lo' }],
  )
  const renamed: readonly Recorded[] = [
    { kind: 'open', inode: DRAFT, name: 'draft', empties: false },
    write(DRAFT, 'new'),
    begin(DRAFT),
    end(DRAFT),
    { kind: 'rename', name: 'draft', other: 'file' },
  ]
  assert.deepEqual(left([...named, ...renamed]), [{ file: '' }, { file: 'new' }])
  assert.deepEqual(left([...named, ...renamed, ...named]), [{ file: 'new' }, { file: 'new' }])
})

test('after a loss of power a thing has the last state that was acknowledged, or one that was asked for since', async () => {
  const seen = (state: string): Thing => ({
    what: 'A client',
    steps: [
      { state: 'made', sentNs: 10n, ackNs: 20n },
      { state: 'renamed', sentNs: 30n, ackNs: 40n },
      { state: 'deleted', sentNs: 50n, ackNs: undefined },
    ],
    observe: async () => state,
  })
  const server = { inject: () => assert.fail('The state is given.') }
  for (const [atNs, allowed] of [
    [15n, ['made', 'renamed', 'deleted']],
    [25n, ['made']],
    [35n, ['made', 'renamed']],
    [45n, ['renamed']],
    [55n, ['renamed', 'deleted']],
  ] as const)
    for (const state of ['made', 'renamed', 'deleted'] as const)
      assert.equal(
        await faultOf(seen(state), server, atNs),
        (allowed as readonly string[]).includes(state)
          ? undefined
          : `A client is ${state}, and was acknowledged as ${atNs < 40n ? 'made' : 'renamed'}`,
      )
})

test('a loss of power leaves a folder that was made, and what is in it, by a sync of the folder above', () => {
  const [DATA, SECRET] = [4, 5]
  const made: readonly Recorded[] = [
    { kind: 'mkdir', name: 'data' },
    { kind: 'open', inode: DATA, name: 'data', empties: false },
    { kind: 'open', inode: SECRET, name: 'data/secret', empties: false },
    write(SECRET, 'new'),
    begin(SECRET),
    end(SECRET),
    begin(DATA),
    end(DATA),
  ]
  assert.deepEqual(left(made)[0], {})
  assert.deepEqual(left([...made, begin(FOLDER), end(FOLDER)])[0], { file: '', 'data/secret': 'new' })
})

test('after a loss of power the backups that the command kept are there, and each is whole', () => {
  const content = 'first\n'
  const whole = Buffer.from(`${content}{"end":{"sha256":"${createHash('sha256').update(content).digest('hex')}"}}\n`)
  const made = [1n, 3n, 5n].map((at) => ({ name: `backups/${at}.backup`, sentNs: at, ackNs: at + 1n }))
  const faults = (names: readonly bigint[], bytes: Buffer, atNs: bigint): number =>
    faultsOfBackups(made, new Map(names.map((at) => [`backups/${at}.backup`, bytes])), atNs).length
  for (const [names, bytes, atNs, expected] of [
    [[], whole, 1n, 0],
    [[], whole, 2n, 1],
    [[1n], whole, 4n, 1],
    [[3n], whole, 5n, 0],
    [[1n, 3n, 5n], whole, 6n, 0],
    [[3n, 5n], whole.subarray(0, -9), 6n, 2],
  ] as const)
    assert.equal(faults(names, bytes, atNs), expected, `${names.join()} at ${atNs}`)
})
