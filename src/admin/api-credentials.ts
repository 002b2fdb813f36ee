import type { Context } from '../ports/context.ts'
import { mintApiCredentialId, type ApiCredentialId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import { conflict } from './admin-error.ts'
import { findApi } from './apis.ts'

/** The credentials with which an API introspects tokens. The secret is shown once. */
export interface NewApiCredentials {
  readonly resource: Resource
  readonly id: ApiCredentialId
  readonly secret: string
}

/** Creates the credentials of an API for introspection. Its previous credentials stop working. @throws AdminError when there is no such API */
export async function makeApiCredentials(
  {
    store,
    clock,
    random,
    secrets,
  }: Pick<Context, 'clock' | 'random' | 'secrets'> & {
    readonly store: Pick<Context['store'], 'listApis' | 'setApiCredentials'>
  },
  text: string,
): Promise<NewApiCredentials> {
  const { resource } = await findApi({ store }, text)
  const id = mintApiCredentialId(clock(), random)
  const { token: secret, hash: secretHash } = secrets.mint('api-secret', id.slice('gap_'.length), random)
  if ((await store.setApiCredentials({ resource, credentials: { id, secretHash } })) === 'unknown') {
    throw conflict(`The API ${resource} was deleted at the same time.`)
  }
  return { resource, id, secret }
}
