import { outcomeOf, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const FIND = shared('select mark from leases where name = :name')
const ADD = shared('insert into leases (name, mark) values (:name, :mark) on conflict (name) do nothing returning name')
const REPLACE = shared('update leases set mark = :mark where name = :name and mark = :previous returning name')

/** Leases have no times: a node that waits compares marks, so no two clocks have to agree. */
export const leaseHandlers = {
  takeLease: {
    keys: ({ name }) => [`lease:${name}`],
    *run(taking) {
      const isFirst = taking.previous === undefined
      return (yield* rows(isFirst ? ADD : REPLACE, taking)).length === 1 ? 'taken' : 'missed'
    },
  },
  releaseLease: {
    keys: ({ name }) => [`lease:${name}`],
    run: outcomeOf('delete from leases where name = :name and mark = :mark returning name', 'released', 'missed'),
  },
} satisfies SharedHandlers

export const leaseReads = {
  *findLeaseMark(name: string): Steps<string | undefined> {
    return (yield* rows(FIND, { name }))[0]?.['mark'] as string | undefined
  },
}
