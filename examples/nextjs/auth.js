import NextAuth from 'next-auth'

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [
    {
      id: 'grantor',
      name: 'Grantor',
      type: 'oidc',
      issuer: process.env.ISSUER,
      clientId: process.env.CLIENT_ID,
      clientSecret: process.env.CLIENT_SECRET,
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
})
