import type { DatabaseSync } from 'node:sqlite'
import type { Handlers } from './handlers.ts'

/** The replay store: digests of values that are accepted once. */
export function consumedStatements(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into consumed (digest, expires_at) values (?, ?) on conflict (digest) do nothing',
  )
  const remove = database.prepare('delete from consumed where digest = ?')

  return {
    consumeOnce(keys) {
      const added = keys.filter(({ digest, expiresAt }) => insert.run(digest, expiresAt).changes === 1)
      if (added.length === keys.length) return 'fresh'
      for (const { digest } of added) remove.run(digest)
      return 'seen'
    },
  } satisfies Partial<Handlers>
}
