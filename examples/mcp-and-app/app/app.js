// The script of the package defines it; with a bundler: import { UserManager } from 'oidc-client-ts'
const { UserManager } = oidc

const { issuer, api } = await (await fetch('/settings.json')).json()
const manager = new UserManager({
  authority: issuer,
  client_id: 'notes-app',
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid notes:read notes:write',
  resource: api,
})
const element = (id) => document.getElementById(id)

if (location.pathname === '/callback') {
  await manager.signinRedirectCallback()
  history.replaceState({}, '', '/')
}
const user = await manager.getUser()
element('sign-in').hidden = user !== null
element('add').hidden = element('sign-out').hidden = user === null
element('sign-in').addEventListener('click', () => manager.signinRedirect())
element('sign-out').addEventListener('click', () => manager.signoutRedirect())
element('add').addEventListener('submit', async (event) => {
  event.preventDefault()
  await call({ method: 'POST', body: JSON.stringify({ text: new FormData(event.target).get('text') }) })
  event.target.reset()
  await show()
})
if (user !== null) await show()

async function call(init) {
  const { access_token: token } = await manager.getUser()
  const answer = await fetch(api, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  if (!answer.ok) throw new Error(`The API answered ${answer.status}`)
  return answer.json()
}

async function show() {
  const items = (await call({})).map(({ text, by }) => {
    const item = document.createElement('li')
    item.textContent = `${text} (${by})`
    return item
  })
  element('notes').replaceChildren(...items)
}
