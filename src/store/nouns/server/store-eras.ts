import type { StorePlace } from '../../../base/store-place.ts'
import type { NounOperations } from '../../noun.ts'
import { endEverythingHeld } from './master-key.ts'
import { STORE_ERAS, WENT_BACK, setting } from './settings.ts'
import { replaceKeys } from './signing-keys.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

const FIND_LINK = shared('select link_hash from audit_links where link_id = :id')
const FIND_OLDER = shared('select link_id from audit_links where link_id < :end order by link_id desc limit 1')
const FIND_ERAS = shared(`select name, value from settings where name in ('${STORE_ERAS}', '${WENT_BACK}')`)
/** The time in the id of a link, and what is behind all ids with that time. */
const [TIME_LENGTH, BEHIND] = [12, 'g']
/** What a copy of the store could bring back, and what has no time that a not-before time is compared with. */
const FORGET = [
  // A role that was removed since would give access again. The key lets no plan read the whole table.
  shared(`delete from roles where user_id > ''`),
  shared('delete from links where expires_at > :now'),
  shared('delete from email_codes where expires_at > :now'),
  shared('delete from interactions where expires_at > :now'),
  shared('delete from pushed_requests where kept_until > :now'),
  shared('delete from devices where expires_at > :now'),
  shared('delete from identity_proofs where expires_at > :now'),
  shared('delete from logout_notices where expires_at > :now'),
  shared('delete from mails where expires_at > :now'),
]
/** Beyond it the oldest but one is forgotten. */
const ERA_LIMIT = 100

/** The eras of a store (base/store-place.ts). */
const operations = {
  beginEra: {
    keys: () => ['setting:not-before', 'signing-keys', `setting:${STORE_ERAS}`],
    cache: 'kept',
    event: ({ reason }) => {
      // The restore of a backup is an event of its own.
      if (reason === 'restored') return undefined
      return reason === 'ended'
        ? { event: 'server.restored', details: { in_place: true } }
        : { event: 'server.confirmed' }
    },
    *run({ era, now, ending }) {
      if (ending !== undefined) {
        yield* replaceKeys(ending.keys)
        yield* endEverythingHeld(now)
        for (const statement of FORGET) yield* rows(statement, { now })
      }
      const { eras: before } = yield* findEras()
      const [first = era, ...later] = before
      const eras = [...new Set([first, ...later.slice(1 - ERA_LIMIT), era])]
      yield* setting(STORE_ERAS, JSON.stringify(eras))
      return 'begun'
    },
  },
} satisfies NounOperations

const reads = {
  /** `linkId`: of the link that a node remembers. */
  *findStorePlace(linkId: string | undefined): Steps<StorePlace> {
    const found = yield* findEras()
    // The tables of an early release have no audit.
    if (linkId === undefined || found.eras.length === 0) return { ...found, hash: undefined, hasOlder: false }
    const [link] = yield* rows(FIND_LINK, { id: linkId })
    // Links of one millisecond have any order. A store that lacks one of them and has another went back.
    const end = linkId.slice(0, TIME_LENGTH) + BEHIND
    const hasOlder = link === undefined && (yield* rows(FIND_OLDER, { end })).length > 0
    return { ...found, hash: link?.['link_hash'] as string | undefined, hasOlder }
  },
}

export const storeEras = { operations, reads }

function* findEras(): Steps<Pick<StorePlace, 'eras' | 'isMarked'>> {
  const values = new Map((yield* rows(FIND_ERAS, {})).map(({ name, value }) => [name, value as string]))
  const eras = JSON.parse(values.get(STORE_ERAS) ?? '[]') as readonly string[]
  return { eras, isMarked: eras.length > 0 && values.get(WENT_BACK) === eras.at(-1) }
}
