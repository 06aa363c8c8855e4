"""Who is let in: keys and their limits, hosts and origins, guards, and what calls have used."""
