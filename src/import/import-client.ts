import { AdminError } from '../admin/admin-error.ts'
import { prepareClient, type MetadataInput } from '../admin/client/metadata.ts'
import type { TaskContext } from '../admin/task.ts'
import { registrationPolicy } from '../clients/registration-policy.ts'
import { readForeignHash } from '../passwords/foreign-hash.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import {
  GIVEN_SECRET_FORM,
  isGuessable,
  isSlowSecret,
  matchesSecretHash,
  slowSecretHash,
} from '../protocol/client/authentication.ts'
import { DESCRIPTION, readRegistration, type RegistrationPolicy } from '../protocol/client/metadata.ts'
import { parseUserId } from '../protocol/ids.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import { needCode } from '../protocol/token/grant-types.ts'
import { NO_SCOPE } from '../protocol/token/scope.ts'
import { checkOutboundUrl } from '../protocol/uri/outbound-url.ts'
import { checkRedirectUri } from '../protocol/uri/redirect-uri.ts'
import type { ImportReason } from './reasons.ts'
import type { ImportedClient } from './records.ts'
import type { ImportOutcome } from './report.ts'
import { isSameJson } from '../base/json.ts'

/** What became of a client. */
export interface ImportedClientResult {
  readonly outcome: ImportOutcome
  readonly reasons: readonly ImportReason[]
  readonly detail?: string | undefined
  /** The names of members that were not taken. */
  readonly dropped: readonly string[]
  /** The URIs that were not taken. */
  readonly refusedUris: readonly string[]
}

interface ClientOptions {
  readonly source: string
  readonly isDryRun: boolean
  /** The hash of the secret, which the other system has made. undefined: the file has none. */
  readonly foreignHash: string | undefined
  /** Receives the new secret of a client before the client is stored. undefined: such a client is refused. */
  readonly keepSecret: ((clientId: string, secret: string) => void) | undefined
}

/** What a file has until a program replaces it with the secret. */
const PLACEHOLDER = /^(?:\$[A-Z_]+|\$\{.*\}|\$\(.*\)|\{\{.*\}\}|<.*>|%.*%|##.*##|@@.*@@|\*+)$/

/** The hosts of clients are those of the operator. */
const ORIGIN = { source: 'operator', verifiedAt: undefined, document: undefined } as const

/** Stores a client of another system with the id and the secret that it has. One that exists stays as it is. */
export async function importClient(
  context: TaskContext,
  record: ImportedClient,
  options: ClientOptions,
): Promise<ImportedClientResult> {
  const { type: _, client_id: chosenId, client_secret: secret, disabled, rules, ...given } = record
  const policy = registrationPolicy(context, await context.store.listApis(), ORIGIN)
  const usable = withoutCode(given)
  const uris = takeUris(policy, usable.given)
  const { taken, dropped } = takePossible(policy, usable)
  const metadata = { ...taken, ...uris.taken } as MetadataInput
  const left = { dropped, refusedUris: uris.refused }
  const method = metadata.token_endpoint_auth_method
  const needsSecret = method !== 'none' && method !== 'private_key_jwt'
  // A hash is no secret: a reader of the other system's database could authenticate with it.
  const isSecret =
    typeof secret === 'string' && !PLACEHOLDER.test(secret) && readForeignHash(secret) === 'hash_unsupported'
  const isUsable = isSecret && GIVEN_SECRET_FORM.test(secret) && !isGuessable(secret)
  const givenSecret = needsSecret && isUsable ? secret : undefined
  const slowSecret = needsSecret && givenSecret === undefined ? readSlowSecret(options.foreignHash) : undefined
  const isNew = needsSecret && givenSecret === undefined && slowSecret === undefined
  const reasons: readonly ImportReason[] = isNew ? [isSecret ? 'secret_guessable' : 'secret_absent'] : []
  if (isNew && options.keepSecret === undefined) return { outcome: 'refused', reasons, ...left }
  const userId = parseUserId(chosenId)
  if (userId !== undefined && (await context.store.findUser(userId)) !== undefined)
    return { outcome: 'refused', reasons: ['id_taken'], ...left }
  try {
    const input = { chosenId, givenSecret, slowSecret, metadata, rules, approvedScope: NO_SCOPE }
    const made = await prepareClient(context, input)
    const client = disabled ? { ...made.client, disabledAt: context.clock() } : made.client
    const stored = await context.store.findClient(client.id)
    if (stored !== undefined) return { ...compare(context, stored, client, givenSecret), reasons: [], ...left }
    if (options.isDryRun) return { outcome: 'created', reasons, ...left }
    if (made.secret !== undefined) options.keepSecret?.(chosenId, made.secret)
    const about = { details: { source: options.source } }
    if ((await context.store.createClient({ ...client, about })) === 'created')
      return { outcome: 'created', reasons, ...left }
    // Without an answer of the store it may have been created by this import.
    const found = await context.store.findClient(client.id)
    if (found === undefined) return { outcome: 'differs', reasons: [], ...left }
    const compared = compare(context, found, client, givenSecret ?? made.secret)
    return { ...compared, reasons: compared.outcome === 'same' ? reasons : [], ...left }
  } catch (cause) {
    if (!(cause instanceof AdminError)) throw cause
    const detail = cause.message.replaceAll('\n', '; ')
    return { outcome: 'refused', reasons: ['client_not_possible'], detail, ...left }
  }
}

/** undefined: there is no hash that can be verified here. */
function readSlowSecret(text: string | undefined): SecretHash | undefined {
  const read = text === undefined ? 'hash_unsupported' : readForeignHash(text)
  return typeof read === 'string' ? undefined : slowSecretHash(read.stored)
}

type Given = Omit<ImportedClient, 'type' | 'client_id' | 'client_secret' | 'disabled' | 'rules'>

/** What describes the client, and where it is notified: a value that the server cannot have is left out, and the client is taken. */
function takePossible(
  policy: RegistrationPolicy,
  { given, dropped: earlier }: { readonly given: Given; readonly dropped: readonly string[] },
): { readonly taken: Given; readonly dropped: readonly string[] } {
  const { outbound } = policy
  const described = Object.entries(given).filter(([name]) => DESCRIPTION.includes(name))
  const reading = readRegistration(Object.fromEntries(described), policy, 0)
  const problems = reading.kind === 'accepted' ? [] : reading.problems
  const dropped = new Set(problems.map(({ loc }) => String(loc[1])).filter((name) => DESCRIPTION.includes(name)))
  dropped.delete('client_name')
  const { backchannel_logout_uri: uri = '' } = given
  const isNotified = outbound !== undefined && checkOutboundUrl(uri, outbound).kind === 'usable'
  if (uri !== '' && !isNotified) dropped.add('backchannel_logout_uri')
  const kept = Object.entries(given).filter(([name]) => !dropped.has(name))
  return { taken: Object.fromEntries(kept) as Given, dropped: [...earlier, ...dropped] }
}

/** A client without a redirect URI cannot use the authorization code anywhere. If it has another grant type, it is taken with that alone. */
function withoutCode(given: Given): { readonly given: Given; readonly dropped: readonly string[] } {
  const { grant_types: all = [], redirect_uris: uris = [] } = given
  const others = all.filter((name) => !needCode([name]) && name !== 'refresh_token')
  if (!needCode(all) || uris.length > 0 || others.length === 0) return { given, dropped: [] }
  const dropped = all.filter((name) => !others.includes(name)).map((name) => `grant type ${name}`)
  return { given: { ...given, grant_types: others }, dropped }
}

/** A URI that the server cannot have, or that no grant type of the client needs, is left out, and the others are kept (threats.md REG-05). */
function takeUris(policy: RegistrationPolicy, given: Given) {
  const needsUris = given.grant_types === undefined || needCode(given.grant_types)
  const refused: string[] = []
  const take = (uris: readonly string[] | undefined): readonly string[] | undefined =>
    uris === undefined
      ? undefined
      : [...new Set(uris)].filter((uri) => {
          const isUsable = needsUris && checkRedirectUri(uri, policy).kind === 'usable'
          if (!isUsable) refused.push(uri)
          return isUsable
        })
  const taken = {
    redirect_uris: take(given.redirect_uris),
    post_logout_redirect_uris: take(given.post_logout_redirect_uris),
  }
  return { taken, refused: [...new Set(refused)] }
}

function compare(
  { secrets }: Pick<TaskContext, 'secrets'>,
  stored: ClientRecord,
  made: ClientRecord,
  secret: string | undefined,
): Pick<ImportedClientResult, 'outcome' | 'detail'> {
  const [before, after] = [membersOf(stored), membersOf(made)]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isSameJson(before[name], after[name]),
  )
  if (!hasSecret(secrets, stored, made, secret)) names.push('client_secret')
  return names.length === 0 ? { outcome: 'same' } : { outcome: 'differs', detail: names.join(', ') }
}

function hasSecret(
  secrets: TaskContext['secrets'],
  { id, secretHash: hash }: ClientRecord,
  made: ClientRecord,
  secret: string | undefined,
): boolean {
  if (secret !== undefined) return hash !== undefined && matchesSecretHash(secrets, id, secret, hash)
  // A hash that was replaced when the client used its secret is not comparable.
  return hash === undefined || !isSlowSecret(hash) || hash === made.secretHash
}

/** What an import says about a client, by the names of the neutral format. */
function membersOf({ metadata, rules, disabledAt }: ClientRecord): Readonly<Record<string, unknown>> {
  const named = Object.entries(rules).map(([rule, value]) => [`rules.${rule}`, value] as const)
  return { ...metadata, ...Object.fromEntries(named), disabled: disabledAt !== undefined }
}
