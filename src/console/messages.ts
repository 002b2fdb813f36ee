import { forShell } from '../base/shell.ts'
import { href, html, type Markup } from '../web/markup.ts'
import { hidden } from './engine/buttons.ts'
import { command } from './parts.ts'
import type { View } from './engine/form.ts'

/** The pages that say something without showing anything of the server. */

/** The command has the id, because an address may have characters that a shell acts on (threats.md CON-33). */
export function roleMissing(name: string, userId: string, csrf: string): View {
  return message('No role', [
    html`<p><bdi>${name}</bdi> has no role here. Ask an administrator, who runs:</p>`,
    html`<p>${command(`grantor role set ${forShell(userId)} --access read`)}</p>`,
    signOutForm(csrf),
  ])
}

export function factorMissing(securityUri: string, csrf: string | undefined): View {
  return message('The console needs two-step sign-in', [
    html`<p>Add an authenticator app or a passkey to your account, then open the console again.</p>`,
    html`<p>
      <a class="button main" href="${href(securityUri)}">Two-step sign-in</a>
      <a class="button" href="/console">Try again</a>
    </p>`,
    csrf === undefined ? undefined : signOutForm(csrf),
  ])
}

export function notSignedIn(): View {
  return message('Not signed in', [
    html`<p>The sign-in was denied or refused.</p>`,
    html`<p><a class="button main" href="/console">Sign in</a></p>`,
  ])
}

/** `here`: the page that the person wanted. */
export function notKept(here: string): View {
  return message('The browser does not keep the session', [
    html`<p>
      The sign-in worked, and the browser came back without the cookie of the console. Allow cookies for this host, or
      remove those that it has.
    </p>`,
    html`<p><a class="button main" href="${here}">Try again</a></p>`,
  ])
}

/** The browser leaves by itself: a redirect could follow a form of this page, which must lead nowhere else. */
export function leaving(location: string): View {
  return message('One moment', [html`<p><a href="${href(location)}">Continue to the sign-in</a></p>`])
}

/** Above a page of the people who sign in, with a class of those pages. */
export function previewBar(back: string): Markup {
  return html`<footer><strong>Preview: nothing works here.</strong> <a href="${back}">Back</a></footer>`
}

/** `explanation`: the sentences of the task, or of the table of refusals. `back`: the screen that the request was for. */
export function refusal(
  title: string,
  explanation: string,
  { requestId, back }: { readonly requestId: string; readonly back: string | undefined },
): View {
  return message(title, [
    html`<p>${explanation}</p>`,
    html`<p><a class="button" href="${back ?? '/console'}">${back === undefined ? 'Overview' : 'Back'}</a></p>`,
    html`<p class="muted">Request <code>${requestId}</code></p>`,
  ])
}

function message(title: string, parts: readonly (Markup | undefined)[]): View {
  return {
    title,
    main: html`<h1>${title}</h1>
      ${parts}`,
  }
}

function signOutForm(csrf: string): Markup {
  return html`<form method="post" action="/console/sign-out">
    ${hidden('csrf', csrf)}<button class="button" type="submit">Sign out</button>
  </form>`
}
