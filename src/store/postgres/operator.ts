import { SIGNING_KEYS } from '../operator-tables.ts'
import { operatorHandlers, operatorReads } from '../shared/operator.ts'
import { rows, shared } from '../shared/statement.ts'
import { firstKey } from '../settings.ts'
import { slashVariant } from '../../protocol/resource.ts'
import type { KeyRecord } from '../../ports/records/key.ts'
import type { Input } from '../../ports/operations.ts'
import { eachAlone, type Handlers } from './handlers.ts'
import { runSteps } from './steps.ts'

/** Serializes declarations of trailing-slash variants of one resource, so that the next statement sees a concurrent insert. */
const DECLARE_IN_TURN = shared(
  `insert into settings (name, value) values ('declaring', :resource)
   on conflict (name) do update set value = excluded.value`,
)
/**
 * Of nodes that see no key of an algorithm, one wins the setting if it is still as that node saw it; the others wait for its
 * key. A store without any key has one setting for all algorithms. Releases with a single algorithm use that setting, too:
 * if such a release and this one start on an empty store at the same time, only one of them makes the first key.
 */
const ADD_FIRST_KEY = shared(
  `with won as (
     insert into settings as s (name, value)
     select case when exists (select 1 from signing_keys) then 'first-key:' || :algorithm else 'first-key' end, :key_id
     where not exists (select 1 from signing_keys where algorithm = :algorithm)
     on conflict (name) do update set value = excluded.value
       where s.value = (select seen.value from settings as seen where seen.name = s.name)
     returning s.name)
   insert into signing_keys (${SIGNING_KEYS.names}) select ${SIGNING_KEYS.parameters} from won`,
)

/** What PostgreSQL does otherwise than SQLite, because several nodes write at the same time. */
export const operatorStatements = {
  declareApi: {
    keys: operatorHandlers.declareApi.keys,
    run: eachAlone(async (query, api: Input<'declareApi'>) => {
      if (slashVariant(api.resource) !== undefined) await runSteps(query, rows(DECLARE_IN_TURN, api))
      return runSteps(query, operatorHandlers.declareApi.run(api))
    }),
  },
  addFirstKey: {
    keys: () => ['signing-keys'],
    run: eachAlone(async (query, key: KeyRecord) => {
      // A node that loses to the first key of another algorithm then tries again for its own algorithm.
      for (let round = 1; round <= 2; round += 1) {
        await runSteps(query, rows(ADD_FIRST_KEY, SIGNING_KEYS.values(key)))
        const first = firstKey(await runSteps(query, operatorReads.listKeys()), key.algorithm)
        if (first !== undefined) return first
      }
      throw new Error(`The first ${key.algorithm} key was removed while it was being created.`)
    }),
  },
} satisfies Partial<Handlers>
