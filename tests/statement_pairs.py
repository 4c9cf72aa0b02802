"""Pairs of short statements, by how they stand to each other: what thresholds on a cosine are
measured with.
"""

from __future__ import annotations

Pairs = list[tuple[str, str]]

REWORDED: Pairs = [
    ("User prefers dark mode", "The user prefers dark mode"),
    ("User prefers dark mode.", "user prefers dark mode"),
    ("Ana lives in Lisbon.", "Ana is living in Lisbon."),
    ("The meeting is on Monday at 10.", "The meeting's on Monday at 10"),
    ("He is allergic to peanuts", "He's allergic to peanuts."),
    ("She works as a nurse at the city hospital.", "She works as a nurse in the city hospital."),
    ("The deployment uses port 8080", "The deployment is using port 8080."),
    ("My favourite colour is green", "My favorite color is green"),
    ("The customer wants invoices by e-mail", "The customer wants invoices by email"),
    ("Ben's dog is called Rex", "Ben's dog's name is Rex"),
    (
        "We decided to use PostgreSQL for the billing service.",
        "We decided on PostgreSQL for the billing service.",
    ),
    ("She does not eat meat.", "She doesn't eat meat."),
    ("The user's time zone is Europe/Berlin", "User time zone: Europe/Berlin"),
    ("He plays the guitar in a band", "He plays guitar in a band"),
    ("Deliveries must arrive before noon.", "Deliveries have to arrive before noon."),
    ("I need a window seat on flights", "I need a window seat on my flights"),
    ("The backup runs every night at 2 am", "The backup runs each night at 2 am"),
    ("Project Orion is delayed by two weeks", "Project Orion is delayed two weeks"),
    ("Maria speaks Spanish and French", "Maria speaks French and Spanish"),
    ("The API key is rotated every 90 days", "The API key gets rotated every 90 days"),
]
"""The same, said again in passing."""

CONTRADICTED: Pairs = [
    ("Ana lives in Lisbon.", "Ana has moved to Porto and loves her new flat there."),
    ("She does not eat meat.", "She had a steak for dinner and said it was her favourite."),
    ("He works at Contoso.", "He left Contoso and joined Fabrikam last month."),
    ("The user prefers dark mode", "The user asked to switch the interface back to light."),
    ("Ben is single.", "Ben got married in June."),
    ("The launch is planned for March.", "The launch has been pushed to September."),
    ("We use PostgreSQL for billing.", "Billing was migrated to MySQL."),
    ("He is allergic to peanuts", "He eats peanut butter every morning."),
    ("She drives a diesel car.", "She sold the car and cycles now."),
    ("The office is in Berlin.", "We closed the Berlin office and moved to Munich."),
]
"""The second takes back the first, in other words."""

ONE_TOPIC: Pairs = [
    ("Ana lives in Lisbon.", "Ana's flat has a view over the Tagus."),
    ("He is allergic to peanuts", "He carries an adrenaline pen for his nut allergy."),
    ("We decided to use PostgreSQL for billing.", "The billing database needs a read replica."),
    ("The user prefers dark mode", "The user finds bright screens tiring in the evening."),
    (
        "She works as a nurse at the city hospital.",
        "Her hospital shifts start at six in the morning.",
    ),
    ("He plays guitar in a band", "The band has a concert on Saturday"),
    ("Project Orion is delayed by two weeks", "Project Orion waits for the security review"),
    ("Maria speaks Spanish and French", "Maria learned French in Lyon"),
    ("The backup runs every night at 2 am", "The last backup took forty minutes"),
    ("Deliveries must arrive before noon.", "The courier came late with the delivery again."),
    ("Ben's dog is called Rex", "Rex had to see the vet because of his paw"),
    ("I need a window seat on flights", "I fly to Madrid every month"),
]
"""Two things about the same."""
