import type { NounOperations } from '../../noun.ts'
import { outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'

const FIND = shared('select mark from leases where name = :name')
const ADD = shared('insert into leases (name, mark) values (:name, :mark) on conflict (name) do nothing returning name')
const REPLACE = shared('update leases set mark = :mark where name = :name and mark = :previous returning name')

/** Leases have no times: a node that waits compares marks, so no two clocks have to agree. */
const operations = {
  takeLease: {
    keys: ({ name }) => [`lease:${name}`],
    cache: 'kept',
    event: 'no-event',
    *run(taking) {
      const isFirst = taking.previous === undefined
      return (yield* rows(isFirst ? ADD : REPLACE, taking)).length === 1 ? 'taken' : 'missed'
    },
  },
  releaseLease: {
    keys: ({ name }) => [`lease:${name}`],
    cache: 'kept',
    event: 'no-event',
    run: outcomeOf('delete from leases where name = :name and mark = :mark returning name', 'released', 'missed'),
  },
} satisfies NounOperations

const reads = {
  *findLeaseMark(name: string): Steps<string | undefined> {
    return (yield* rows(FIND, { name }))[0]?.['mark'] as string | undefined
  },
}

export const leases = { operations, reads }
