import type { ListedGroupDocument } from '../../admin/group/tasks.ts'
import type { PasskeyDocument } from '../../admin/user/sign-in.ts'
import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { forShell } from '../../base/shell.ts'
import { APPLICATION } from '../../protocol/sign-in/authentication.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import type { Frame } from '../engine/form.ts'
import { actions, formOf } from '../engine/buttons.ts'
import { linkTo } from '../links.ts'
import { chip, command, dotted, facts, id, name, section, time } from '../parts.ts'
import { groupLink, protection, sourceOf, stateOf } from './groups/group.ts'
import { browserOf } from './user-answer.ts'

const NONE = html`<span class="muted">None</span>`

/** What the account has, beside what happened with it. */
export function accountOf(user: WholeUserDocument, groups: readonly ListedGroupDocument[], frame: Frame): Markup {
  const elsewhere = user.identities.filter(({ provider_id: provider }) => provider !== APPLICATION)
  const own = user.identities.filter(({ provider_id: provider }) => provider === APPLICATION)
  return section(
    'Account',
    facts([
      ['Name', name(user.name, 'None')],
      ['Address', address(user, frame)],
      ['Password', user.has_password ? 'Set' : NONE],
      ['Passkeys', list(user.passkeys.map((one) => passkey(one, frame)))],
      ['Authenticator app', app(user, frame)],
      ['Accounts at providers', list(elsewhere.map((one) => identity(one, frame)))],
      ['Organizations', organizations(user)],
      ['Groups', groupsIn(groups, frame)],
      ['Role for the console', role(user, frame)],
      ['Id', id(user.user_id)],
      ['Id at your application', own.length === 0 ? undefined : list(own.map(({ subject }) => code(subject)))],
      ['Created', time(user.created_at, frame)],
      [
        'Tokens revoked',
        user.not_before === user.created_at ? undefined : html`all from before ${time(user.not_before, frame)}`,
      ],
    ]),
  )
}

function list(items: readonly Markup[]): Fragment {
  if (items.length === 0) return NONE
  return html`<ul>
    ${items.map((one) => html`<li>${one}</li>`)}
  </ul>`
}

function address({ email, email_verified_at: at }: WholeUserDocument, frame: Frame): Fragment {
  if (email === null) return NONE
  return at === null ? 'Not verified' : html`Verified ${time(at, frame)}`
}

function passkey(
  { passkey_id: key, is_synced: isSynced, added_at: added, used_at: used, ...made }: PasskeyDocument,
  frame: Frame,
): Markup {
  return html`<bdi>${browserOf(made)}</bdi>${isSynced ? ', synced' : undefined}, added ${time(added, frame)}, used
    ${time(used, frame)} ${actions(frame, formOf(frame, 'user.remove-passkey'), key)}`
}

function app({ authenticator_app: factor }: WholeUserDocument, frame: Frame): Fragment {
  if (factor === null) return NONE
  const { added_at: added, used_at: used, recovery_codes: codes, is_locked: isLocked } = factor
  return html`<span
    >Added ${time(added, frame)}, used ${time(used, frame)}, ${codes} recovery codes left
    ${isLocked ? chip('Locked', 'bad') : undefined}</span
  >`
}

function identity(
  { provider_id: provider, subject, email, used_at: used }: WholeUserDocument['identities'][number],
  frame: Frame,
): Markup {
  return html`${code(provider)} ${name(email ?? subject, '–')} <span class="muted">used</span> ${time(used, frame)}`
}

function organizations({ organizations: all }: WholeUserDocument): Fragment {
  return list(
    all.map(
      ({ organization_id: one, name: called, disabled_at: disabled }) =>
        html`<a href="${linkTo('organizations', one)}/members">${name(called, '(no name)')}</a>
          ${disabled === null ? undefined : chip('Disabled', 'bad')}`,
    ),
  )
}

/** Each group with who says it, and until when. What ended protects the account too, until it is swept. */
function groupsIn(groups: readonly ListedGroupDocument[], frame: Frame): Fragment {
  const note = html`<p class="hint">
    A member of a protected group counts as the holder of a role: “support”, “users” and other organizations cannot
    change the account.
  </p>`
  return html`${list(groups.map((group) => groupItem(group, frame)))}
  ${groups.some((group) => group.protected) ? note : undefined}`
}

function groupItem(group: ListedGroupDocument, frame: Frame): Markup {
  const said = (group.sources ?? []).map((one) => {
    const until = one.expires_at === null ? undefined : html`, until ${time(one.expires_at, frame)}`
    return html`${sourceOf(one.source)}${until} ${one.counts ? undefined : stateOf(one, frame)}`
  })
  return html`${groupLink(frame, group.group_id, group.name)} ${protection(group)}<span class="hint"
      >${dotted(said)}</span
    >`
}

/** The own role is changed by another person, or by the command line. */
function role({ role: held, user_id }: WholeUserDocument, { self, mayWrite }: Frame): Fragment {
  const access =
    held === null
      ? NONE
      : html`<span
          >${held.access}${held.organization_id === null ? undefined : html`, for ${id(held.organization_id, linkTo('organizations', held.organization_id))}`}${held.loopback_only ? ', while the issuer is a loopback address' : undefined}</span
        >`
  if (!mayWrite || user_id !== self) return access
  const to = held?.access === 'read' ? 'write' : 'read'
  const of = held?.organization_id ?? null
  return html`${access}
  ${
    of === null
      ? command(`grantor role set ${forShell(user_id)} --access ${forShell(to)}`)
      : command(`grantor role set ${forShell(user_id)} --access ${forShell(to)} --organization ${forShell(of)}`)
  }`
}
