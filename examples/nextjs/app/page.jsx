import { auth, signIn, signOut } from '../auth'

async function enter() {
  'use server'
  await signIn('grantor')
}

async function leave() {
  'use server'
  await signOut()
}

export default async function Page() {
  const session = await auth()
  return session === null ? (
    <form action={enter}>
      <button>Sign in</button>
    </form>
  ) : (
    <form action={leave}>
      <p>{session.user.email}</p>
      <button>Sign out</button>
    </form>
  )
}
