import { NEVER_REVOKED } from '../contract/never-revoked.ts'
import { normalizeEmail, type EmailAddress } from '../../../src/protocol/sign-in/email-address.ts'
import { anImport, changed } from '../contract/user/imported-users.ts'
import { aGroupMember } from '../contract/organization/groups.ts'
import { anEmailCode } from '../contract/user/email-codes.ts'
import type pg from 'pg'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import type { Operation } from '../../../src/ports/operations/index.ts'
import type { LinkingReason } from '../../../src/ports/operations/provider.ts'
import type { IdentityRecord } from '../../../src/ports/records/provider.ts'
import type { StoreDriver } from '../../../src/ports/store.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import { anIdentity, aProvider } from '../../support/provider/provider-records.ts'
import {
  aGrant,
  aGroup,
  aHash,
  aLink,
  anApproval,
  anAuthorization,
  aRedemption,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
} from '../../support/records.ts'
import { outcomesOf, times } from '../contract/harness.ts'
import { aDeed } from './torn.ts'

const END = { now: at(99), codesSince: at(-1) } as const
const CLIENT = anAuthorization().clientId
export const PROVIDER = aProvider()

/**
 * A user with two sessions and two identities, who has approved one code in the second session and is asked for another; a second user
 * without identities, whose address is verified; a third user who has never signed in; and what may happen to them.
 */
export function aTornUser() {
  const [user, bare] = [aUser({ createdAt: at(-HOUR), notBefore: at(-HOUR) }), aUser()]
  const unused = aUser({ emailVerifiedAt: undefined, firstSignedInAt: undefined })
  const squatting = aSession({ userId: unused.id })
  const evicting = identityOf(unused.id)
  const [kept, session, started, replacing] = times(4, () => aSession({ userId: user.id })) as [
    Session,
    Session,
    Session,
    Session,
  ]
  const [one, other, third, chosen] = times(4, () => identityOf(user.id)) as [
    IdentityRecord,
    IdentityRecord,
    IdentityRecord,
    IdentityRecord,
  ]
  const reset = aLink({ userId: user.id })
  const group = aGroup()
  const [first, second] = times(2, () => identityOf(bare.id)) as [IdentityRecord, IdentityRecord]
  const openid = {
    nonce: undefined,
    idTokenClaims: [],
    session: { rootId: session.id, methods: ['pwd'], at: at(-1) },
  } as const
  const [coded, asked] = times(2, () =>
    anAuthorization({ clientId: CLIENT, scope: 'openid' as Scope, openid: { ...openid, session: undefined } }),
  ) as [Authorization, Authorization]
  const approvalOf = (authorization: Authorization) =>
    anApproval(authorization, {
      userId: user.id,
      decided: { ...authorization, openid },
      remember:
        authorization === asked
          ? {
              userId: user.id,
              clientId: CLIENT,
              organizationId: undefined,
              redirectHost: 'app.example',
              resources: '',
              since: at(-HOUR),
              under: NEVER_REVOKED,
              scope: 'openid' as Scope,
            }
          : undefined,
      notified: { userId: user.id, clientId: CLIENT, sid: 'sid', session },
    })
  const approval = approvalOf(coded)
  const grant = aGrant({
    clientId: CLIENT,
    userId: user.id,
    scope: 'openid' as Scope,
    openid: { session: openid.session, idTokenClaims: [] },
  })
  const asserted = aGrant({ clientId: CLIENT, userId: user.id, family: undefined, providerId: PROVIDER.id })
  const imported = anImport()
  const [newer, another] = [changed(imported), anImport()]
  const copy = { ...imported.identities[1], userId: another.user.id } as IdentityRecord
  const replacement = { ...aUser(), email: `new.${user.email}` }

  const start = (next: Session, replaces?: Session['id']) =>
    aDeed('startSession', aSessionStart({ session: next, replaces, passwordHash: user.passwordHash }))
  const link = (identity: IdentityRecord, reason: LinkingReason) =>
    aDeed('linkIdentity', { identity, reason, now: at(5) })
  const unlink = ({ key, userId, providerId }: IdentityRecord) =>
    aDeed('unlinkIdentity', {
      key,
      userId,
      providerId,
      passwordCounts: false,
      factors: undefined,
      passkeysCount: false,
      session: coversAll(kept),
      now: at(5),
    })
  const code = anEmailCode({ userId: user.id, email: normalizeEmail(`one.${user.email}`) })
  const rename = (email: EmailAddress) =>
    aDeed('setEmail', { id: user.id, email, emailVerifiedAt: undefined, now: at(5) })

  return {
    setUp: [
      aDeed('createUser', user),
      aDeed('createUser', bare),
      aDeed('createUser', unused),
      start(kept),
      start(session),
      aDeed('startAuthorization', coded),
      aDeed('startAuthorization', asked),
      aDeed('approveAuthorization', approval),
      ...[one, other].map((identity) => link(identity, { kind: 'session', session: coversAll(kept) })),
      aDeed('createEmailCode', { ...code, session: coversAll(kept), mails: [] }),
      aDeed('createLink', reset),
      aDeed('createGroup', group),
    ],
    operations: {
      'redeem the code': aDeed('redeemCode', aRedemption(approval, { grant })),
      'redeem the code again': aDeed('redeemCode', aRedemption(approval, { grant })),
      'approve another code': aDeed('approveAuthorization', approvalOf(asked)),
      'sign in': start(started),
      'sign in again in the browser': start(replacing, session.id),
      'open a grant': aDeed('openGrant', { grant: asserted, identity: one.key }),
      'remove the app': aDeed('removeApp', {
        userId: user.id,
        clientId: CLIENT,
        organizationId: undefined,
        ...END,
      }),
      'sign out': aDeed('endSession', { id: session.id, ...END }),
      'sign out elsewhere': aDeed('endOtherSessions', { userId: user.id, keep: kept.id, ...END }),
      'change the password': aDeed('changePassword', {
        id: user.id,
        passwordHash: 'new',
        previousHash: user.passwordHash,
        session: coversAll(kept),
      }),
      'remove an identity': unlink(one),
      'remove the other identity': unlink(other),
      'link in the session': link(third, { kind: 'session', session: coversAll(session) }),
      'link by the address': link(first, { kind: 'address', email: bare.email }),
      'link another by the address': link(second, { kind: 'address', email: bare.email }),
      'change the address': rename(code.email),
      'change the address again': rename(normalizeEmail(`other.${user.email}`)),
      'confirm an address': aDeed('confirmEmail', {
        userId: user.id,
        email: code.email,
        digest: code.digest,
        session: coversAll(kept),
        now: at(5),
        mails: [],
      }),
      'create a user with that address': aDeed('createUser', { ...replacement, email: code.email }),
      'use the link': aDeed('useLink', {
        userId: user.id,
        hash: reset.hash,
        passwordHash: 'reset',
        keep: [one.key],
        isSecondStepRequired: false,
        browserHash: aHash(),
        now: at(5),
      }),
      'link by the link': link(chosen, {
        kind: 'link',
        hash: reset.hash,
        keep: [],
        isMultiFactor: false,
        isSecondStepRequired: false,
      }),
      'sign in to the unused account': start(squatting),
      'take the unused account over': link(evicting, { kind: 'unused', email: unused.email }),
      'import an account': aDeed('importUser', imported),
      'import the account again': aDeed('importUser', imported),
      'import the newer account': aDeed('importUser', newer),
      'import another with its address': aDeed('importUser', {
        ...another,
        user: { ...another.user, email: imported.user.email },
      }),
      'import another with its identity': aDeed('importUser', { ...another, identities: [copy] }),
      'join the group': aDeed('addGroupMember', aGroupMember(user.id, group)),
      'let another join the group': aDeed('addGroupMember', aGroupMember(bare.id, group)),
      'protect the group': aDeed('updateGroup', { ...group, isProtected: true, previous: group }),
      'delete the group': aDeed('deleteGroup', group),
      'disable the user': aDeed('disableUser', { id: user.id, now: at(5) }),
      'delete the user': aDeed('deleteUser', { id: user.id }),
    } satisfies Readonly<Record<string, Operation>>,
    names: Object.entries({
      user,
      bare,
      replacement,
      kept,
      session,
      started,
      replacing,
      coded,
      asked,
      asserted,
      unused,
      squatting,
    })
      .map(([name, { id }]) => [id as string, name] as const)
      .concat([
        [imported.user.id, 'imported'],
        [another.user.id, 'another'],
        ...[...newer.identities, ...another.identities].map(({ key }, place) => [key, `imported ${place}`] as const),
      ])
      .concat(
        Object.entries({ one, other, third, chosen, evicting, first, second }).map(
          ([name, { key }]) => [key as string, name] as const,
        ),
      ),
    users: [user.id, bare.id, replacement.id, unused.id, imported.user.id, another.user.id],
  }
}

type Authorization = ReturnType<typeof anAuthorization>
type Session = ReturnType<typeof aSession>
export type TornUser = ReturnType<typeof aTornUser>
export type Deed = keyof TornUser['operations']

function identityOf(userId: IdentityRecord['userId']): IdentityRecord {
  return anIdentity({ userId, providerId: PROVIDER.id })
}

/** So many users in one commit take less than half of the time that they take one by one. More are too slow for the limit of a statement on a busy machine. */
const TOGETHER = 5

export async function createTornUsers(store: StoreDriver, users: readonly TornUser[]): Promise<void> {
  for (let from = 0; from < users.length; from += TOGETHER)
    outcomesOf(await store.commit(users.slice(from, from + TOGETHER).flatMap(({ setUp }) => setUp)))
}

/** Returns what the operations returned and what the tables have of a user, with names instead of ids, which addresses have in lower case. */
export async function describeTornUser(
  client: pg.Client,
  { users, names }: TornUser,
  outcomes: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { rows } = await client.query<{ readonly line: string }>(STATE, [users])
  const returned = Object.entries(outcomes).map(([deed, outcome]) => `${deed}: ${JSON.stringify(outcome)}`)
  return [...returned, ...rows.map(({ line }) => line)]
    .map((line) =>
      names.reduce((text, [id, name]) => text.replaceAll(id, name).replaceAll(id.toLowerCase(), name), line),
    )
    .toSorted()
    .join('\n')
}

const STATE = [
  ['users', `'user ' || user_id || ' ' || coalesce(password_hash, '') || ' ' || coalesce(email, '')`],
  ['emails', `'email ' || email || ' of ' || user_id`],
  ['sessions', `'session ' || session_id || ' from ' || root_id`],
  // A redeemed code may have been burned too: what burned it waited for the redemption.
  [
    'authorizations',
    `'code ' || authorization_id || case when exists (select 1 from grants where grant_id = authorization_id) then ' redeemed' else ' ' || status end`,
  ],
  ['grants', `'grant ' || grant_id || case when revoked_at is null then '' else ' revoked' end`],
  ['identities', `'identity ' || identity_key`],
  ['group_members', `'member ' || user_id`],
  ['links', `'link ' || origin`],
  ['consents', `'consent ' || scope`],
  ['logout_notices', `'notice ' || root_id || coalesce(' due ' || due_at, '')`],
]
  .map(([table, line]) => `select ${line} as line from ${table} where user_id = any($1)`)
  .join(' union all ')
