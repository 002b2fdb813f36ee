import type { Context } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import { unavailable } from '../protocol/errors.ts'

/** The process answers. Says nothing about what it depends on, so that a slow database gets nobody restarted. */
export async function alive(): Promise<Reply> {
  return { kind: 'json', status: 200, body: { status: 'alive' } }
}

/**
 * The process can do its work: it is not shutting down, and the store answers.
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function ready({ isAccepting, store }: Pick<Context, 'isAccepting' | 'store'>): Promise<Reply> {
  if (!isAccepting()) throw unavailable('shutting_down', 1)
  await store.ping()
  return { kind: 'json', status: 200, body: { status: 'ready' } }
}

export async function version(context: Pick<Context, 'version'>): Promise<Reply> {
  return { kind: 'json', status: 200, body: { name: 'grantor', version: context.version } }
}
