/** What the original programs have made of a password, at low costs where they allow them. */
export interface HashVector {
  /** With its version. */
  readonly program: string
  readonly password: string
  readonly text: string
}

/** NFKC changes its last word, whose first letter is a ligature. */
export const VECTOR_PASSWORD = 'correct horse Ünïcödé \ufb01ne'

/** Keycloak exports the parts of a hash as JSON: here they are in one text. */
export const HASH_VECTORS: readonly HashVector[] = [
  {
    program: 'bcrypt 6.0.0 (npm)',
    password: VECTOR_PASSWORD,
    text: '$2b$04$b2JFR358tkfUeHA75xI0heDYFlY3yebD4oi7F1ySmn1q5Ja6J6V3C',
  },
  {
    program: 'bcrypt 5.0.0 (PyPI)',
    password: VECTOR_PASSWORD,
    text: '$2a$04$yxjWxpvJqRk6hfR/K1uP6eGv.w7NLxR6UJcdXYE7eokSM/YZYs3C.',
  },
  {
    program: 'bcrypt 5.0.0 (PyPI)',
    password: VECTOR_PASSWORD,
    text: '$2y$04$2jr6Kl/fgguXPBDxKz2qeevZ3OFFph1bStvBnG34YliEAbq46OTti',
  },
  {
    program: 'argon2 0.45.1 (npm)',
    password: VECTOR_PASSWORD,
    text: '$argon2id$v=19$m=64,p=3,t=2$dhA9FAe1b2SdcCEDH9aOHQ$Qea/j3mTs26JGKK68vm9TZ8SjEOq51Hc6AVrO4tmrQQ',
  },
  {
    program: 'argon2 0.45.1 (npm)',
    password: VECTOR_PASSWORD,
    text: '$argon2i$v=19$m=64,p=2,t=2$Iy/FL4KRXknfzCNQphQGBA$hZ7+TqEBBr6ZJaOOivet1/pp/VU0NQ8FJwnUbmz1b4k',
  },
  {
    program: 'argon2 0.45.1 (npm)',
    password: VECTOR_PASSWORD,
    text: '$argon2d$v=19$m=64,p=1,t=2$RzvoFVdixByjNwuZYBVZGQ$1wJ1RRGKGvYMMULyaGLST2x/Q8V0nKrLUodF0Ks3DoI',
  },
  {
    program: 'argon2-cffi 25.1.0 (PyPI)',
    password: VECTOR_PASSWORD,
    text: '$argon2id$v=19$m=64,t=2,p=1$1T+lJjAPpNVtYiGydQy71Q$5RhO/kyiUkUIAPNJ7VbRCYgQikoDUbMVskvJrm9bsNg',
  },
  {
    program: 'Keycloak 26.0.8',
    password: VECTOR_PASSWORD,
    text: '$argon2id$v=19$m=64,t=5,p=3$Fxe89bKB7510iLWbZxX2Cg==$rHsroutaHRFNhhB6xraezjwvoMFCWobX3D7NSzGaNk4=',
  },
  {
    program: 'Keycloak 26.0.8',
    password: VECTOR_PASSWORD,
    text: '$pbkdf2-sha512$i=1300$VrFYGcfWjwPFuzKvFihBkQ==$yFJkfWH+dNIPgY8o3GiifCjvE87hptykldHwIdzhVQjT8gVsyP0DjEYXx5/36JoLvni6uysx42wILkWn6pnHrA==',
  },
  {
    program: 'Keycloak 26.0.8',
    password: VECTOR_PASSWORD,
    text: '$pbkdf2-sha256$i=1300$c9XpcMVbqNTkHehOxB9GsA==$Ex0x/rRfls2xev3+IOGmD1NH+ySIyC0pZlvYzR9tBmDilVtFUdYvwXiCorIZyuFHE8ZHZ4d6tCeUy7jcPe/paA==',
  },
  {
    program: 'Django 5.2.19',
    password: VECTOR_PASSWORD,
    text: 'pbkdf2_sha256$1200$saltOfDjango$JaZgJEh4FyJvTgNPhIxK/6aa44lvQ+rcM5SCbIjWP9Y=',
  },
  {
    program: 'Django 5.2.19',
    password: VECTOR_PASSWORD,
    text: 'pbkdf2_sha1$1200$saltOfDjango$xjiLmxjUM8dxc1HXu+X+jL8lzt4=',
  },
  {
    program: 'passlib 1.7.4',
    password: VECTOR_PASSWORD,
    text: '$pbkdf2$1100$ECJkLKX03luLcQ6hdK5VKg$HIU6Ru.6pQAwLp72/gZfRnok8GA',
  },
  {
    program: 'passlib 1.7.4',
    password: VECTOR_PASSWORD,
    text: '$pbkdf2-sha256$1100$yDmHMIYQgvD.P4fQeo/xHg$hBxI/jetYM.AhwiWhKrtrSjUoDDMrBXADJDldLGxdo8',
  },
  {
    program: 'passlib 1.7.4',
    password: VECTOR_PASSWORD,
    text: '$pbkdf2-sha512$1100$ljKm9P6f8z7nnBPCmFOKMQ$GzHOtYOLUijXCKw.5mjilpFM6dSpg8.aovU7vCbp037zOCAlOeTCmy0VbR2V0Qxzs2xpbmbMgLx50Wtpn3RXqw',
  },
  {
    program: 'passlib 1.7.4',
    password: VECTOR_PASSWORD,
    text: '$scrypt$ln=6,r=8,p=1$PWds7Z0zxnhPSUlJac35fw$ZTdNy4gP8Qlx0VyRsMGyoSCsvGii3+xBOg5zIAB02HA',
  },
  {
    program: 'better-auth 1.7.25 (npm)',
    password: VECTOR_PASSWORD,
    text: '96cd14124f14e2cf332091ceb8282dc7:7a1b998d76c10434c58787096d9bb54d0bd9acf6bccf64cc2a25fef6e679d60dd1ca1b2e981b60a89099ae8b0510abc9f0162c19636a9ee1d42d90a83facf7bf',
  },
  {
    program: 'Lucia 3.2.2 (npm)',
    password: VECTOR_PASSWORD,
    text: 's2:a898bb6bdf30d9490972871ad3521401:88c7d4c5cf1d3530104e441a390c698eb15d174bc1d6b83e2eccd59c7173a4eed5f51abc4c4855cc1b5a8c06c94785489dfa2d604cb90194471c7841ba9818e2',
  },
  {
    program: 'the example of github.com/firebase/scrypt',
    password: 'user1password',
    text: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  },
]

/** bcrypt 6.0.0 (npm), of a password with 73 bytes. */
export const LONG_VECTOR: HashVector = {
  program: 'bcrypt 6.0.0 (npm)',
  password: `${'x'.repeat(71)}yz`,
  text: '$2b$04$jQN6loF3cmY6bsT4vGcQ7.T6ka5CwxpNeQrpGnkMhGTbMpHVEEgIG',
}
