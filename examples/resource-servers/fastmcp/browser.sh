# Acts as the person's browser: PERSON signs in and allows, and curl follows to the client's callback.
curl -sSL -o /dev/null --data-raw "$1" "$PERSON"
