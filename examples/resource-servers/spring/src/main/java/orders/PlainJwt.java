package orders;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** Spring's own decoder. It accepts no typ but JWT: grantor api create --jwt-type JWT … */
@Configuration
@Profile("plain-jwt")
class PlainJwt {
    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_orders:read"))
                .oauth2ResourceServer(server -> server.jwt(jwt -> {}))
                .build();
    }
}
